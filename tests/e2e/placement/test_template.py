"""Floors that pod templates keep, without a webhook, on the real API server and scheduler."""

import json
from typing import Any

import pytest

from evenkeel.flows.restore.flow import RunResult
from evenkeel.model import names
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import Runs, all_ready, planned, restore, workload_of
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.manifests import MAJORITY

pytestmark = pytest.mark.controlplane

BY_TEMPLATE = {names.PLACEMENT: names.BY_TEMPLATE}


def apply(ground: Ground, manifest: dict[str, Any], **notes: str) -> None:
    """Apply a workload whose template places its pods."""
    manifest["metadata"].setdefault("annotations", {}).update(BY_TEMPLATE | notes)
    ground.apply(manifest)


def reasons(outcome: RunResult) -> dict[str, str]:
    """The reasons of what was done, and of what was left, by workload."""
    decisions = [*outcome.plan.left, *(step.decision for step in outcome.done)]
    return {workload_of(each): each.reason for each in decisions}


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
    apply(ground, stateful_set("db", 3, start="200ms"), **MAJORITY)
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
    ground.wait_for("restore to be done", lambda: reasons(runs())["web"] == "AsWanted", every=0.5)
    written = read("apps/v1", "Deployment", "web", ground.namespace)
    assert written["spec"]["template"]["spec"]["tolerations"][0] == own
    assert json.loads(written["metadata"]["annotations"][names.TEMPLATE])["rather"] == "spot"

    gone = {"metadata": {"annotations": {names.PLACEMENT: None}}}
    ground.control_plane.merge("apps/v1", "Deployment", "web", gone, ground.namespace)
    assert reasons(runs()) == {"web": "TemplateTakenOff"}

    after = read("apps/v1", "Deployment", "web", ground.namespace)
    assert after["spec"]["template"] == before | {"spec": before["spec"] | {"affinity": {}}}
    assert names.TEMPLATE not in after["metadata"]["annotations"]


def test_an_undo_of_a_rollout_is_not_undone(ground: Ground) -> None:
    """Of a Deployment it also puts the annotations of then back, of a StatefulSet it does not."""
    ground.add_nodes(spot=1, on_demand=1)
    kinds = {"web": "Deployment", "db": "StatefulSet"}
    apply(ground, deployment("web", 4, start="200ms"), **{names.ON_DEMAND: "2"})
    apply(ground, stateful_set("db", 2, start="200ms"), **{names.ON_DEMAND: "1"})
    runs = Runs(ground)
    all_ready(ground, 6)

    def settled(app: str, reason: str) -> None:
        ground.wait_for(f"{app}: {reason}", lambda: reasons(runs())[app] == reason, every=0.5)

    def undo(app: str) -> None:
        where = ("-n", ground.namespace)
        ground.control_plane.kubectl("rollout", "undo", f"{kinds[app]}/{app}", *where)

    for app, kind in kinds.items():
        settled(app, "AsWanted")
        changed = {"spec": {"template": {"metadata": {"annotations": {"revision": "2"}}}}}
        ground.control_plane.merge("apps/v1", kind, app, changed, ground.namespace)
        undo(app)
        written = generation(ground, kind, app)
        settled(app, "AsWanted")
        assert generation(ground, kind, app) == written

    for app, kind in kinds.items():
        ground.control_plane.kubectl(
            *("rollout", "undo", f"{kind}/{app}", "--to-revision=1", "-n", ground.namespace)
        )
        written = generation(ground, kind, app)
        settled(app, "TemplateUndone")
        runs()
        assert generation(ground, kind, app) == written


RATHER_LARGE = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 1,
                "preference": {"matchExpressions": [{"key": "large", "operator": "Exists"}]},
            }
        ]
    }
}
BY_SERVER = ("--server-side", "--force-conflicts", "--field-manager=kustomize-controller")
"""As Flux applies, and Argo CD with ServerSideApply=true; without these, as Argo CD does."""


@pytest.mark.parametrize("how", [(), BY_SERVER], ids=["client", "server"])
def test_applying_again_undoes_only_lists_that_the_manifest_has_itself(
    ground: Ground, how: tuple[str, ...]
) -> None:
    """Both merge what they find; a list of tolerations is one value to them, or of preferences."""
    ground.add_nodes(spot=1, on_demand=1)
    own = {"key": "own", "operator": "Exists", "effect": "NoSchedule"}
    workloads = [
        deployment("web", 4, start="200ms"),
        deployment("own", 4, start="200ms", tolerations=[own]),
        deployment("far", 4, start="200ms", affinity=RATHER_LARGE),
    ]
    for each in workloads:
        each["metadata"]["annotations"] = BY_TEMPLATE | {names.ON_DEMAND: "2"}

    def apply_all() -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": workloads})
        ground.control_plane.kubectl("apply", "-n", ground.namespace, "-f", "-", *how, stdin=text)

    apply_all()
    runs = Runs(ground)
    all_ready(ground, 12)
    as_wanted = dict.fromkeys(("web", "own", "far"), "AsWanted")
    ground.wait_for("restore to be done", lambda: reasons(runs()) == as_wanted, every=0.5)
    written = generation(ground, "Deployment", "web")
    web = ground.control_plane.get("apps/v1", "Deployment", "web", ground.namespace)
    assert names.FIELD_MANAGER in {each["manager"] for each in web["metadata"]["managedFields"]}

    apply_all()

    assert generation(ground, "Deployment", "web") == written
    undone = as_wanted | dict.fromkeys(("own", "far"), "TemplateUndone")
    ground.wait_for("restore to tell", lambda: reasons(runs()) == undone, every=0.5)
    assert generation(ground, "Deployment", "web") == written
