"""The real API server calls ``evenkeel serve``; the real scheduler goes by what it answers."""

from typing import Any

import pytest
import yaml

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.placement import placed_of
from evenkeel_cli.headroom import printed
from evenkeel_cli.headroom.sizing import MI, Room, Size
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.webhook import Ground, Webhook, on_demand

pytestmark = pytest.mark.controlplane

ON_DEMAND = "evenkeel.dev/on-demand"
CAPACITY = "evenkeel.dev/capacity"
KEY = "eks.amazonaws.com/capacityType"


def floored(replicas: int, floor: str, *, name: str = "web", **template: Any) -> dict[str, Any]:
    return deployment(name, replicas, annotations={ON_DEMAND: floor}, **template)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_burst_of_a_hundred_lands_exactly_thirty_on_on_demand(
    processes: int, ground: Ground
) -> None:
    """Exactly, where all were counted in time; where the machine was too slow for some of them,
    wrong by no more than those, and the next burst is to show it."""
    ground.add_nodes()
    ground.serve(processes)
    late = []
    for name in ("web", "again", "once-more"):
        logged = len(ground.log())
        ground.apply(floored(100, "30%", name=name))
        pods = ground.settled(100)
        late.append(_late(pods, ground.log()[logged:]))
        assert abs(len(on_demand(pods)) - 30) <= late[-1]
        if not late[-1]:
            break
        ground.scale("Deployment", name, 0)
        ground.wait_for("the others to go", lambda: not ground.pods())
    assert late[-1] == 0, f"of 100 pods each time so many were late: {late}"
    assert all("place " in webhook.log.read_text() for webhook in ground.webhooks)


def test_a_floor_waits_for_on_demand_rather_than_go_to_capacity_that_ec2_takes_back(
    ground: Ground,
) -> None:
    lent = f"{ground.namespace}-lent"
    ground.control_plane.add_node(lent, labels={names.INTERRUPTIBLE: "true"}, cpu="64", pods=200)
    ground.serve()
    ground.apply(floored(10, "30%"))

    def placed() -> list[dict[str, Any]] | None:
        pods = [pod for pod in ground.pods() if pod["spec"].get("nodeName")]
        return pods if len(ground.pods()) == 10 and len(pods) == 7 else None

    there = ground.wait_for("seven pods to have a node", placed)
    assert {pod["spec"]["nodeName"] for pod in there} == {lent}
    ground.add_nodes(spot=0, on_demand=1)
    pods = on_demand(ground.settled(10))
    assert len(pods) == 3
    assert lent not in {pod["spec"]["nodeName"] for pod in pods}


def _late(pods: list[dict[str, Any]], log: str) -> int:
    """The pods whose review or count took longer than one waits for it, or which came so long
    after it that another took their claim over."""
    notes = [placed_of(pod["metadata"].get("annotations", {})) for pod in pods]
    slots = [note.slot for note in notes if note is not None and note.slot is not None]
    return notes.count(None) + log.count(": NotCounted: ") + len(slots) - len(set(slots))


def test_a_rolling_update_keeps_the_floor_and_ends_with_exactly_that(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.apply(floored(20, "30%", start="100ms"))
    ground.settled(20)
    changed = floored(20, "30%", start="100ms")
    changed["spec"]["template"]["metadata"]["annotations"]["version"] = "2"
    ground.apply(changed)
    fewest = 20

    def updated() -> list[dict[str, Any]] | None:
        nonlocal fewest
        pods = ground.pods()
        fewest = min(fewest, sum(p["metadata"]["labels"][CAPACITY] == "on-demand" for p in pods))
        new = [p for p in pods if p["metadata"]["annotations"].get("version") == "2"]
        done = len(new) == len(pods) == 20 and all(p["spec"].get("nodeName") for p in pods)
        return pods if done else None

    assert len(on_demand(ground.wait_for("the rollout", updated))) == 6
    assert fewest >= 6


def test_scaling_out_grows_the_floor_and_scaling_in_takes_spot_first(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.apply(floored(10, "30%", start="10ms"))
    assert len(on_demand(ground.settled(10))) == 3
    ground.scale("Deployment", "web", 40)
    assert len(on_demand(ground.settled(40))) == 12
    ground.wait_for("all ready", lambda: _ready(ground) == 40)
    ground.scale("Deployment", "web", 15)
    assert len(on_demand(ground.settled(15))) == 12
    ground.scale("Deployment", "web", 5)
    assert len(on_demand(ground.settled(5))) == 5


def _ready(ground: Ground) -> int:
    found = ground.control_plane.get("apps/v1", "Deployment", "web", ground.namespace)
    ready: int = found["status"].get("readyReplicas", 0)
    return ready


def test_stateful_sets_of_every_size_have_their_majority_by_ordinal(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    sizes = {"one": (1, 0), "three": (3, 0), "five": (5, 0), "seven": (7, 0), "late": (5, 4)}
    for name, (size, start) in sizes.items():
        manifest = stateful_set(name, size)
        manifest["spec"] |= {"podManagementPolicy": "Parallel", "ordinals": {"start": start}}
        ground.apply(manifest)
    pods = ground.settled(sum(size for size, _ in sizes.values()))
    placed = {
        name: {
            int(pod["metadata"]["name"].rpartition("-")[2])
            for pod in on_demand(pods)
            if pod["metadata"]["name"].startswith(f"{name}-")
        }
        for name in sizes
    }
    assert placed == {
        "one": {0},
        "three": {0, 1},
        "five": {0, 1, 3},
        "seven": {0, 1, 3, 5},
        "late": {4, 5, 7},
    }


def test_an_owners_affinity_of_two_terms_is_kept(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    linux = {"key": "kubernetes.io/hostname", "operator": "Exists"}
    other = {"key": "nowhere", "operator": "Exists"}
    terms = [{"matchExpressions": [linux]}, {"matchExpressions": [other]}]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }
    ground.apply(floored(6, "2", affinity=affinity))
    pods = ground.settled(6)
    assert len(on_demand(pods)) == 2
    for pod in on_demand(pods):
        required = pod["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        for before, after in zip(terms, required["nodeSelectorTerms"], strict=True):
            assert after["matchExpressions"][0] == before["matchExpressions"][0]
            assert [each["operator"] for each in after["matchExpressions"][1:]] == ["NotIn"] * 3


def test_a_spot_taint_is_tolerated_by_pods_that_may_go_to_spot(ground: Ground) -> None:
    taint = {"key": KEY, "value": "SPOT", "effect": "NoSchedule"}
    ground.add_nodes(taints=[taint])
    ground.serve()
    ground.apply(floored(6, "2"))
    assert len(on_demand(ground.settled(6))) == 2


def test_reserved_headroom_goes_to_the_only_replica_and_to_no_other_pod(ground: Ground) -> None:
    kept = f"{ground.namespace}-kept"
    ground.control_plane.add_node(
        kept,
        cpu="1",
        labels={names.HEADROOM: names.SINGLES},
        taints=[{"key": names.HEADROOM, "value": names.SINGLES, "effect": "NoSchedule"}],
    )
    placeholders = printed.pause_pods(Room(1, Size(800, MI)), WELL_KNOWN, reserved=True)
    ground.control_plane.apply(*placeholders)
    try:
        query = f"labelSelector=app.kubernetes.io/component%3D{printed.FOLDER}-{names.SINGLES}"

        def pauses() -> list[bool]:
            pods = ground.control_plane.items("v1", "Pod", names.SYSTEM_NAMESPACE, query)
            return [bool(pod["spec"].get("nodeName")) for pod in pods]

        ground.wait_for("the pause pod to have a node", lambda: pauses() == [True])
        ground.serve()
        ground.apply(deployment("pair", 2, cpu="400m"))
        ground.wait_for("two pods to wait", lambda: len(ground.pods()) == 2)
        ground.apply(deployment("login", 1, cpu="400m"))

        def placed() -> list[str]:
            there = [pod for pod in ground.pods() if pod["spec"].get("nodeName")]
            return [pod["metadata"]["labels"]["app"] for pod in there]

        assert ground.wait_for("a pod to have a node", placed) == ["login"]
        ground.wait_for("the pause pod to wait", lambda: pauses() == [False])
        assert placed() == ["login"]
    finally:
        for each in placeholders:
            ground.control_plane.kubectl("delete", "-f", "-", stdin=yaml.safe_dump(each))


def test_a_dry_run_counts_nothing(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.apply(floored(0, "2"))
    found: list[dict[str, Any]] = ground.wait_for(
        "the ReplicaSet",
        lambda: list(ground.control_plane.items("apps/v1", "ReplicaSet", ground.namespace)),
    )
    (owner,) = found
    template = owner["spec"]["template"]
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    metadata = template["metadata"] | {"generateName": "dry-", "ownerReferences": [reference]}
    ground.control_plane.merge(
        "apps/v1", "Deployment", "web", {"spec": {"paused": True}}, ground.namespace
    )
    for _ in range(4):
        ground.control_plane.request(
            "POST",
            f"api/v1/namespaces/{ground.namespace}/pods?dryRun=All",
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]},
        )
    assert ground.control_plane.items("coordination.k8s.io/v1", "Lease", "evenkeel-system") == []
    ground.control_plane.merge(
        "apps/v1",
        "Deployment",
        "web",
        {"spec": {"paused": False, "replicas": 6}},
        ground.namespace,
    )
    assert len(on_demand(ground.settled(6))) == 2


def test_pods_are_made_all_the_same_while_the_webhook_is_down(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.webhooks[0].kill()
    ground.apply(floored(10, "30%"))
    assert not any(CAPACITY in pod["metadata"]["labels"] for pod in ground.settled(10))


def test_a_floor_that_cannot_be_read_is_told_at_the_deployment(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.apply(floored(3, "a few"))
    assert on_demand(ground.settled(3)) == []
    events = ground.wait_for(
        "the warning",
        lambda: [
            each
            for each in ground.control_plane.items("v1", "Event", ground.namespace)
            if each["reason"] == "BadFloor"
        ],
    )
    assert events[0]["type"] == "Warning"
    assert events[0]["involvedObject"]["kind"] == "Deployment"
    assert "'a few'" in events[0]["message"]


def test_it_ends_on_a_signal_and_its_log_holds_no_token(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.apply(floored(5, "2"))
    ground.settled(5)
    stopped: list[Webhook] = ground.webhooks
    assert stopped[0].stop() == 0
    assert "ended" in ground.log()
    assert "status=200" in ground.log()
    assert ground.token not in ground.log()
    assert "/v1/" not in ground.log()


def test_a_gang_is_on_one_capacity_type(ground: Ground) -> None:
    """Of which its owner wants one on on-demand, all are there; of which none, none is."""
    ground.add_nodes()
    ground.serve()
    for name, floor in (("held", "1"), ("free", "none")):
        made = floored(4, floor, name=name)
        made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = name
        ground.apply(made)
    found = on_demand(ground.settled(8))
    assert [pod["metadata"]["labels"]["app"] for pod in found] == ["held"] * 4
