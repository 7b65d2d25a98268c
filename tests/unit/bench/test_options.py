"""What an observer's lines amount to for one workload, and the table of all options."""

import msgspec

from bench.options.figures import extremes
from bench.options.options import FLOOR, OPTIONS, REPLICAS
from bench.options.results import Compared, Row, Stood
from bench.report import options
from bench.storm.figures import Sight
from tests.unit.bench.made import CONDITIONS

ON_DEMAND = {"demand-0"}


def pod(at: float, name: str, node: str = "", **changes: bool) -> Sight:
    """A pod that serves if it has a node, as it was seen."""
    seen = Sight(
        at=at,
        kind="pod",
        uid=name,
        name=name,
        app="web",
        node=node,
        ready=bool(node),
        leaving=False,
        released=False,
        cordoned=False,
        gone=False,
    )
    return msgspec.structs.replace(seen, **changes)


def test_the_fewest_on_on_demand_are_those_of_the_time_that_counts() -> None:
    sights = [
        pod(1.0, "a", "demand-0"),
        pod(1.0, "b", "demand-0"),
        pod(1.0, "c", "spot-0"),
        pod(3.0, "a", "demand-0", leaving=True),
        pod(4.0, "d"),
        pod(5.0, "d", "demand-0"),
    ]
    found = extremes(sights, ON_DEMAND, since=2.0)
    assert (found.serving.lowest, found.serving.ready, found.most_pending) == (1, 2, 1)
    assert extremes(sights[:3], ON_DEMAND, since=2.0).serving.lowest == 2, "nothing changed"


def test_nothing_serves_on_a_node_that_is_gone() -> None:
    node = msgspec.structs.replace(pod(3.0, "demand-0", gone=True), kind="node")
    found = extremes([pod(1.0, "a", "demand-0"), node], ON_DEMAND, since=2.0)
    assert found.serving.lowest == 0


def test_a_pod_that_goes_waits_for_no_node_any_more() -> None:
    sights = [pod(3.0, "a"), pod(4.0, "a", leaving=True), pod(5.0, "b")]
    assert extremes(sights, ON_DEMAND, since=2.0).most_pending == 1


def test_every_option_makes_the_same_workload() -> None:
    for option in OPTIONS:
        made = option.manifests("web")
        assert sum(each["spec"]["replicas"] for each in made) == REPLICAS


def test_the_table_has_a_row_per_option_and_says_what_restore_did() -> None:
    rest = Stood(
        situation="at rest",
        replicas=REPLICAS,
        wanted=FLOOR,
        on_demand=FLOOR,
        ready=REPLICAS,
        lowest=FLOOR,
        pending=0,
        most_pending=1,
        rollouts=0,
        seconds=1.0,
    )
    changes = {"situation": "spot back", "on_demand": 3, "ready": 9, "pending": 1, "rollouts": 1}
    back = msgspec.structs.replace(rest, **changes, before=10, moved=7)
    row = Row(
        conditions=CONDITIONS, option="webhook", title="webhook", objects=1, stood=(rest, back)
    )
    lines = options.table(Compared(spot=3, on_demand=2, rows=(row,))).splitlines()
    assert lines[0] == "| option | at rest | spot back | rollouts caused | objects |"
    assert lines[2] == "| webhook | **2**, low 2 | 3, low 2, 1 Pending | 1 | 1 |"
    assert "webhook from 10 to 3 on on-demand, 7 pods replaced" in lines[6]
