"""Floors that pod templates keep, without a webhook, on the real API server and scheduler."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope
from evenkeel.model import names
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.poll.in_process import InProcessQueue
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import all_ready, planned, restore
from tests.e2e.placement.webhook import Ground, on_demand

pytestmark = pytest.mark.controlplane

BY_TEMPLATE = {names.PLACEMENT: names.BY_TEMPLATE}


def apply(ground: Ground, manifest: dict[str, Any], **notes: str) -> None:
    """Apply a workload whose template places its pods."""
    manifest["metadata"].setdefault("annotations", {}).update(BY_TEMPLATE | notes)
    ground.apply(manifest)


class Runs:
    """Runs of the restore function's flow about the ground's namespace, at times of its own."""

    def __init__(self, ground: Ground) -> None:
        self.clock = ShiftedClock()
        self._cluster = ground.control_plane.cluster
        self._scope = Scope(ground.namespace)

    def __call__(self) -> dict[str, str]:
        """The reasons of what was done, and of what was left, by workload."""
        log = InMemoryRecorder()
        events = ClusterEvents(self._cluster, self.clock, log, observes=False)
        queue = InProcessQueue(self.clock, "wake-ups")
        recorder = Tee(log, events)
        flow = RestoreFlow(
            Terms(), self._scope, self._cluster, queue, self.clock, recorder, acts=True
        )
        outcome = flow.run()
        events.flush()
        assert log.total("WritesFailed") == log.total("RestoresOvertaken") == 0, log.notes
        decisions = [*outcome.plan.left, *(step.decision for step in outcome.done)]
        return {(each.workload or each.subject).name: each.reason for each in decisions}

    def until(self, ground: Ground, done: Callable[[dict[str, str]], bool]) -> None:
        """Run twice a second until what it says is as wanted: each run reads everything."""

        def look() -> bool:
            said = self()
            return done(said)

        ground.wait_for("restore to be done", look, every=0.5)


def of(ground: Ground, app: str) -> list[dict[str, Any]]:
    """The pods of a workload."""
    return [pod for pod in ground.pods() if pod["metadata"]["labels"]["app"] == app]


def generation(ground: Ground, kind: str, name: str) -> int:
    found = ground.control_plane.get("apps/v1", kind, name, ground.namespace)
    return int(found["metadata"]["generation"])


def test_templates_bring_workloads_to_their_floors(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=2)
    apply(ground, deployment("web", 6, start="200ms"), **{names.ON_DEMAND: "2"})
    apply(ground, deployment("rest", 3, start="200ms"))
    apply(ground, deployment("most", 5, start="200ms"), **{names.ON_DEMAND: "80%"})
    apply(ground, stateful_set("db", 3, start="200ms"))
    all_ready(ground, 17)
    assert planned(ground)["web"]["action"] == "patch-template"

    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    all_ready(ground, 17)
    split = {app: len(on_demand(of(ground, app))) for app in ("web", "rest", "most", "db")}
    assert split == {"web": 2, "rest": 0, "most": 5, "db": 2}
    before = {app: generation(ground, "Deployment", app) for app in ("web", "rest", "most")}
    assert restore(ground, "--apply").returncode == 0
    assert {app: generation(ground, "Deployment", app) for app in before} == before
    assert {row["reason"] for row in planned(ground).values()} == {"AsWanted"}


def test_the_template_is_its_owners_again_when_the_annotation_goes(ground: Ground) -> None:
    ground.add_nodes(spot=1, on_demand=1)
    own = {"key": "own", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    web = deployment("web", 4, start="200ms", tolerations=[own])
    apply(ground, web, **{names.ON_DEMAND: "2"})
    read = ground.control_plane.get
    before = read("apps/v1", "Deployment", "web", ground.namespace)["spec"]["template"]
    runs = Runs(ground)
    all_ready(ground, 4)
    runs.until(ground, lambda said: said["web"] == "AsWanted")
    written = read("apps/v1", "Deployment", "web", ground.namespace)
    assert written["spec"]["template"]["spec"]["tolerations"][0] == own
    assert json.loads(written["metadata"]["annotations"][names.TEMPLATE])["rather"] == "spot"

    gone = {"metadata": {"annotations": {names.PLACEMENT: None}}}
    ground.control_plane.merge("apps/v1", "Deployment", "web", gone, ground.namespace)
    assert runs() == {"web": "TemplateTakenOff"}

    after = read("apps/v1", "Deployment", "web", ground.namespace)
    assert after["spec"]["template"] == before | {"spec": before["spec"] | {"affinity": {}}}
    assert names.TEMPLATE not in after["metadata"]["annotations"]
