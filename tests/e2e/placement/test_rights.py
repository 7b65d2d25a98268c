"""Webhook and restore with the rights of manifests/rbac and no others: enough for all they do."""

from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.adapters.kubernetes import from_kubeconfig
from evenkeel.adapters.telemetry.memory import InMemoryRecorder
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.placement.claims import sweep
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import TRACES, Scope
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.notice import WakeUp
from evenkeel.model.request import List, Listing
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment, job, stateful_set
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.test_rights import kubeconfig_of
from tests.fixtures.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

ON_DEMAND = "evenkeel.dev/on-demand"


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, rights: None, tmp_path: Path) -> Path:
    """That of a member of placement's group alone."""
    del rights
    return kubeconfig_of(control_plane, "evenkeel-placement", tmp_path)


def test_nothing_that_it_does_is_refused(ground: Ground, kubeconfig: Path) -> None:
    ground.add_nodes()
    ground.serve(kubeconfig=kubeconfig)
    ground.apply(deployment("web", 6, annotations={ON_DEMAND: "2"}))
    ground.apply(deployment("typo", 1, annotations={ON_DEMAND: "tow"}))
    ground.apply(stateful_set("db", 3))
    counted = job("batch")
    counted["metadata"]["annotations"] = {ON_DEMAND: "1"}
    ground.apply(counted)
    assert len(on_demand(ground.settled(11))) == 2 + 2 + 1
    told = ground.wait_for(
        "the warning",
        lambda: [
            each
            for each in ground.control_plane.items("v1", "Event", ground.namespace)
            if each["reason"] == "BadFloor"
        ],
    )
    assert told[0]["involvedObject"]["name"] == "typo"
    assert "forbidden" not in ground.log().lower()
    clock = ShiftedClock()
    clock.skip(timedelta(minutes=3))
    with from_kubeconfig(kubeconfig=str(kubeconfig)) as cluster:
        assert sweep(cluster, clock) == 3


class Bell:
    """A queue that counts the wake-ups."""

    def __init__(self) -> None:
        self.rung = 0

    def send(self, _wake_up: WakeUp, _delay: timedelta = timedelta()) -> None:
        self.rung += 1

    def postpone(self, _receipt_handle: str, _delay: timedelta) -> None:
        raise NotImplementedError


def test_nothing_that_restore_does_is_refused(
    ground: Ground, kubeconfig: Path, tmp_path: Path
) -> None:
    ground.add_nodes(spot=0, on_demand=2)
    ground.serve(kubeconfig=kubeconfig)
    ground.apply(deployment("web", 3, annotations={ON_DEMAND: "1"}))
    ground.apply(stateful_set("db", 3))
    stuck = deployment("stuck", 1, annotations={ON_DEMAND: "all"})
    stuck["spec"]["template"]["spec"]["nodeSelector"] = {"there": "is-no-such-node"}
    ground.apply(stuck)
    notes = {ON_DEMAND: "1", names.PLACEMENT: names.BY_TEMPLATE}
    ground.apply(deployment("own", 2, annotations=notes))
    ground.wait_for("9 pods", lambda: len(ground.pods()) == 9)
    ground.wait_for("db is ready", lambda: _ready(ground, "StatefulSet", "db") == 3)
    ground.add_nodes(spot=1, on_demand=0)

    folder = tmp_path / "restore"
    folder.mkdir()
    recorder, bell, clock = InMemoryRecorder(), Bell(), ShiftedClock()
    terms = Terms(relax_after=timedelta(minutes=1))
    clock.skip(timedelta(seconds=70))
    restricted = kubeconfig_of(ground.control_plane, "evenkeel-restore", folder)
    with from_kubeconfig(kubeconfig=str(restricted)) as cluster:
        scope = Scope(ground.namespace)
        flow = RestoreFlow(terms, scope, cluster, bell, clock, recorder, acts=True)
        outcome = flow.run()
        (traces,) = cluster.perform([List(TRACES)])

    assert isinstance(traces.result, Listing)
    assert len(traces.result.items) == 1
    assert outcome.reason == "Restored"
    assert {(step.decision.workload or step.decision.subject).name for step in outcome.done} == {
        "web",
        "db",
        "stuck",
        "own",
    }
    verbs = {step.decision.verb for step in outcome.done}
    assert verbs == {Verb.RELEASE, Verb.EVICT, Verb.RELAX, Verb.PATCH_TEMPLATE}
    assert bell.rung == 1
    assert recorder.total("WritesFailed") == recorder.total("RestoresOvertaken") == 0


def _ready(ground: Ground, kind: str, name: str) -> int:
    found = ground.control_plane.get("apps/v1", kind, name, ground.namespace)
    ready: int = found["status"].get("readyReplicas", 0)
    return ready
