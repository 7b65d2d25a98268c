"""The real API server calls ``evenkeel serve``; the real scheduler goes by what it answers."""

from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.placement import Placed
from evenkeel_cli.headroom import printed
from evenkeel_cli.headroom.sizing import MI, Kept, Room, Size
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.manifests import bare_pod

pytestmark = pytest.mark.controlplane


def floored(replicas: int, floor: str, *, name: str = "web", **template: Any) -> dict[str, Any]:
    return deployment(name, replicas, annotations={names.ON_DEMAND: floor}, **template)


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


def _late(pods: Sequence[dict[str, Any]], log: str) -> int:
    """The pods whose review or count took longer than one waits for it, or which came so long
    after it that another took their claim over."""
    notes = [Placed.read(pod["metadata"].get("annotations", {}).get(names.PLACED)) for pod in pods]
    slots = [note.slot for note in notes if note is not None and note.slot is not None]
    return notes.count(None) + log.count(": NotCounted: ") + len(slots) - len(set(slots))


@pytest.fixture(params=["webhook", "policy"])
def placed(request: pytest.FixtureRequest, ground: Ground) -> Ground:
    """A ground whose new pods one of the two places."""
    ground.add_nodes()
    if request.param == "policy":
        ground.police()
    else:
        ground.serve()
    return ground


@pytest.mark.parametrize(
    ("floor", "ordinals"),
    [
        ("", {0, 1, 3}),
        ("majority", {0, 1, 3}),
        ("2", {0, 1}),
        ("30%", {0, 3}),
        ("all", {0, 1, 2, 3, 4}),
        ("none", set()),
    ],
)
def test_ordinals_of_the_floor_run_on_on_demand(
    placed: Ground, floor: str, ordinals: set[int]
) -> None:
    notes = {names.ON_DEMAND: floor} if floor else {}
    made = stateful_set("db", 5, start="50ms")
    made["spec"]["template"]["metadata"]["annotations"] |= notes
    made["spec"]["podManagementPolicy"] = "Parallel"
    placed.apply(made)
    found = on_demand(placed.settled(5))
    assert {int(pod["metadata"]["name"].removeprefix("db-")) for pod in found} == ordinals


@pytest.mark.parametrize(("floor", "count"), [("all", 4), ("none", 0)])
def test_all_and_none_of_a_deployment_need_no_count(placed: Ground, floor: str, count: int) -> None:
    made = deployment("web", 4)
    made["spec"]["template"]["metadata"]["annotations"][names.ON_DEMAND] = floor
    placed.apply(made)
    assert len(on_demand(placed.settled(4))) == count


OTHERS = {"apiVersion": "example.org/v1", "kind": "Cluster", "name": "own", "uid": "own"}
"""A controller of a kind that nobody but its operator knows."""


@pytest.mark.parametrize(("floor", "count"), [("all", 4), ("none", 0)])
def test_all_and_none_of_a_namespace_place_bare_pods_and_those_of_operators(
    floor: str, count: int, placed: Ground
) -> None:
    note = {"metadata": {"annotations": {names.ON_DEMAND: floor}}}
    placed.control_plane.merge("v1", "Namespace", placed.namespace, note)
    placed.wait_for(
        "the floor to be known", lambda: placed.would_be(bare_pod("probe", image="probe"))
    )
    for number in range(4):
        made = bare_pod(f"own-{number}", placed.namespace, image="example.org/image")
        owner = OTHERS | {"controller": True}
        # The garbage collector knows no such kind, and leaves what it owns.
        made["metadata"]["ownerReferences"] = [owner] if number % 2 else []
        placed.apply(made)
    assert len(on_demand(placed.settled(4))) == count


def test_reserved_headroom_goes_to_the_only_replica_and_to_no_other_pod(ground: Ground) -> None:
    kept = f"{ground.namespace}-kept"
    ground.control_plane.add_node(
        kept,
        cpu="1",
        labels={names.HEADROOM: names.SINGLES},
        taints=[{"key": names.HEADROOM, "value": names.SINGLES, "effect": "NoSchedule"}],
    )
    placeholders = printed.pause_pods(Kept(Room(1, Size(800, MI))), WELL_KNOWN, reserved=True)
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


def test_pods_are_made_all_the_same_while_the_webhook_is_down(ground: Ground) -> None:
    ground.add_nodes()
    ground.serve()
    ground.webhooks[0].kill()
    ground.apply(floored(10, "30%"))
    assert not any(names.CAPACITY in pod["metadata"]["labels"] for pod in ground.settled(10))
