"""What ``evenkeel status`` shows of where workloads stand, and the sentences below it."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli.decisions.remarks import Remark
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity
from evenkeel_cli.status.listing import (
    BELOW_DEFAULT,
    MOST_TOLD,
    NO_FLOOR,
    Floor,
    WorkloadStatus,
    WorkloadStatusList,
    of_elsewhere,
    of_nodes,
)

OWN = CapacityLabels(("lifecycle", "kind"))
RISK = Remark(Reason.BELOW_FLOOR, "1 below its floor", "one is missing", warning=True)
DEFAULT = Remark(Reason.DEFAULT_FLOOR, "1 below its default floor", "it is a default")
QUIET = Remark(Reason.MOVING, "1 moving", "one moves")


def workload(floor: int = 1, source: str = "workload", **other: Any) -> WorkloadStatus:
    values: dict[str, Any] = {
        "ok": True,
        "replicas": 2,
        "on_demand": 1,
        "spot": 1,
        "waiting": 0,
        "moving": 0,
        "survivors": 1,
        "survivors_of_pool": 1,
        "managed": True,
        "placement": "webhook",
        "remarks": (),
        "evictions": (),
        "why_waiting": "",
    } | other
    return WorkloadStatus(
        subject=Reference("Deployment", "web", "shop"),
        floor=Floor(replicas=floor, policy="1", source=source),
        **values,
    )


def sentences(*items: WorkloadStatus) -> list[str]:
    return [*WorkloadStatusList(items=items).sentences()]


@pytest.mark.parametrize(
    ("floor", "source", "words"),
    [
        (0, "default", "0"),
        (1, "default", "1 by default"),
        (2, "default", "2 by default"),
        (1, "workload", "1"),
    ],
)
def test_a_default_floor_above_none_is_told_to_be_one(floor: int, source: str, words: str) -> None:
    assert workload(floor, source).floor_in_words == words


def test_below_its_default_floor_a_workload_is_not_simply_well() -> None:
    assert workload(2, "default", survivors=0).ok_or_no_floor == BELOW_DEFAULT
    assert workload(2, "default", survivors=2).ok_or_no_floor is True
    assert workload(2, survivors=0).ok_or_no_floor is True, "its remark says what it misses"


@pytest.mark.parametrize(
    ("ok", "floor", "told"),
    [(True, 0, NO_FLOOR), (True, 1, True), (False, 0, False), (False, 1, False)],
)
def test_a_workload_without_a_floor_is_well_in_its_own_way(
    floor: int, told: object, *, ok: bool
) -> None:
    assert workload(floor, ok=ok).ok_or_no_floor == told


def test_what_is_off_is_told_in_a_few_words_each() -> None:
    assert workload(remarks=[RISK, QUIET]).status == "1 below its floor, 1 moving"
    assert workload().status == ""


def test_warnings_and_default_floors_are_told_in_sentences_and_nothing_else() -> None:
    told = sentences(workload(remarks=[RISK, DEFAULT, QUIET]))
    assert [each.split(": ", 1)[1] for each in told] == ["one is missing.", "it is a default."]


def test_an_eviction_that_waits_is_told_with_why_its_pods_wait() -> None:
    waits = workload(evictions=["Pod a waits"], why_waiting="no node has room.")
    (told,) = sentences(waits)
    assert told.endswith(": Pod a waits (no node has room).")
    (told,) = sentences(workload(evictions=["Pod a waits"]))
    assert told.endswith(": Pod a waits.")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (0, []),
        (1, ["And 1 more remark: see -o json."]),
        (2, ["And 2 more remarks: see -o json."]),
    ],
)
def test_so_many_are_told_and_the_rest_is_counted(more: int, told: Sequence[str]) -> None:
    remarks = [replace(RISK, message="x" * number) for number in range(MOST_TOLD + more)]
    found = sentences(*(workload(remarks=[each]) for each in remarks))
    assert found[MOST_TOLD:] == told
    assert len(set(found[:MOST_TOLD])) == MOST_TOLD


def test_what_is_said_of_many_is_said_once_and_hides_nothing_else() -> None:
    """Ten equal sentences hid the one that differs."""
    alike = [workload(remarks=[replace(RISK, message="1 of 2 is off")])] * 40
    other = workload(remarks=[RISK])
    both = "shop/deploy/web, shop/deploy/web, shop/deploy/web and 37 more: 1 of 2 is off."
    assert sentences(*alike, other) == [both, "shop/deploy/web: one is missing."]
    more = workload(remarks=[replace(RISK, message="2 of 3 are off")])
    assert sentences(workload(remarks=[replace(RISK, message="1 of 2 is off")]), more) == [
        "shop/deploy/web: 1 of 2 is off. So it is, with other numbers, of shop/deploy/web."
    ]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ((), ""),
        (
            (workload(), workload(2), workload(survivors=0), workload(0, replicas=0, survivors=0)),
            "1 of 3 workloads would have no Ready pod, and 2 fewer than the floor.",
        ),
        ((workload(),), "0 of 1 workload would have no Ready pod."),
    ],
)
def test_the_first_line_says_how_many_would_be_at_zero(
    items: Sequence[WorkloadStatus], told: str
) -> None:
    start = "If every spot node died now, " if told else ""
    assert WorkloadStatusList(items=items).headline == f"{start}{told}"


def test_workloads_of_other_namespaces_are_counted_and_the_namespaces_named() -> None:
    (told,) = of_elsewhere({"b": 2, "a": 1})
    assert told == "-A shows 3 more workloads, of 2 other namespaces (a, b)."
    assert [*of_elsewhere({})] == []


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (UnknownCapacity(unlabelled=["n1", "n2"]), ["2 nodes have no label", "n1, n2"]),
        (UnknownCapacity(unlabelled=["n1"]), ["1 node has no label", f"{WELL_KNOWN.keys[0]}=spot"]),
        (UnknownCapacity(blocks=["n1"]), ["1 node is in a Capacity Block", "end at one time"]),
        (UnknownCapacity(elsewhere={"fargate": ["n1"]}), ["1 node is no EC2 instance (fargate)"]),
        (
            UnknownCapacity(doubtful={"lifecycle=Ec2Spot": ["n1", "n2"]}),
            [
                "2 nodes have the label lifecycle=Ec2Spot",
                "n1, n2",
                "if it means spot, set EVENKEEL_CAPACITY_LABELS=lifecycle=Ec2Spot,kind; if",
                "if on-demand, give there the value of lifecycle that means spot",
            ],
        ),
    ],
)
def test_nodes_of_an_unknown_capacity_type_are_told_with_what_to_do(
    nodes: UnknownCapacity, said: Sequence[str]
) -> None:
    (told,) = of_nodes(nodes, OWN if nodes.doubtful else WELL_KNOWN)
    assert all(each in told for each in said), told


def test_where_each_node_says_its_capacity_type_nothing_is_said() -> None:
    assert [*of_nodes(UnknownCapacity(), WELL_KNOWN)] == []
