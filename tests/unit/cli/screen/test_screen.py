"""The screen as a value: what it says of what is known of an interruption."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from evenkeel_cli.history import incident
from evenkeel_cli.history.cutting import Record
from evenkeel_cli.history.incident import Seen
from evenkeel_cli.nodes.listing import LeaseHolder
from evenkeel_cli.screen import making
from evenkeel_cli.screen.known import Around, Known
from evenkeel_cli.screen.views import Counted, Fate, Money, Screen
from tests.unit.cli.history.records import WEB, at, counted, decided, marked, of_pod
from tests.unit.cli.watch.rehearsed import story

WARNING, HINT = "SpotInterruption", "RebalanceRecommendation"
MONEY = Money(now=100.4, saved=2_000, note="a month", columns=["Workload"], rows=[["web"]])
API = Reference("Deployment", "api", "shop", "api-uid")


def seen(seconds: float, *records: Record, **known: Any) -> Screen:
    """The screen so long after the beginning."""
    account = incident.of(records)
    return making.of(Known(at=at(seconds), source="a log", account=account, **known))


def handed_over(seconds: float, name: str) -> list[Record]:
    return [
        of_pod(seconds, "release", "NodeDoomed", name),
        of_pod(seconds + 5, "evict", "ReplacementAvailable", name),
    ]


def facts(shown: Screen) -> dict[str, str]:
    return {each.name: each.text for each in shown.facts}


def test_the_headline_counts_nodes_seconds_pods_and_who_has_none() -> None:
    shown = seen(
        47,
        marked(0),
        marked(1, "b"),
        *handed_over(2, "web-1"),
        of_pod(3, "release", "NodeDoomed", "web-2"),
        counted(7, 3),
    )
    assert shown.headline == (
        "2 nodes going, the first in 73 s, 1 of 2 pods replaced, nobody at zero"
    )
    assert not shown.calm


def test_the_headline_names_who_has_none_and_counts_what_is_late() -> None:
    last_moment = of_pod(5, "evict", "LastMoment", warning=True, forced=True)
    shown = seen(9, marked(0), last_moment, counted(6, 0, 1))
    assert shown.headline == (
        "1 node going, the first in 111 s, 0 of 1 pod replaced, 1 gone otherwise (1 late),"
        " shop/deploy/web at zero"
    )
    more = seen(9, marked(0), last_moment, counted(6, 0, 1), counted(6, 0, 2, API))
    assert more.headline.endswith("2 workloads at zero")


def test_a_node_that_may_live_on_is_not_said_to_go() -> None:
    shown = seen(9, marked(0, reason="RebalanceRecommendation"), marked(1, "b"))
    assert shown.headline == "1 node going, the first in 112 s, 1 node may go"
    fates = [(each.name, each.fate) for each in shown.nodes]
    assert fates == [("b", Fate.GOES), ("a", Fate.UNDECIDED)]
    assert [each.ends for each in shown.pools] == [["112s", "may go"]]


def test_before_and_after_an_interruption_no_node_is_going() -> None:
    assert seen(0).headline == "No node is going."
    end = decided(125, "complete", "InstanceOff", Reference("Node", "a"), node="a")
    shown = seen(130, marked(0), *handed_over(2, "web-1"), counted(7, 3), end)
    assert shown.calm
    assert shown.headline.startswith("No node is going any more. Of 1 workload with pods that had")


@pytest.mark.parametrize(
    ("seconds", "kind", "verb", "reason", "fate"),
    [
        (100, WARNING, "cordon", "NodeDying", Fate.GOES),
        (130, WARNING, "cordon", "NodeDying", Fate.GONE),
        (100, WARNING, "complete", "InstanceOff", Fate.GONE),
        (100, WARNING, "lift", "Cancelled", Fate.STAYS),
        (100, HINT, "cordon", "NodeDying", Fate.UNDECIDED),
        (130, HINT, "cordon", "NodeDying", Fate.STAYS),
        (100, HINT, "lift", "HintExpired", Fate.STAYS),
        (100, HINT, "complete", "InstanceOff", Fate.GONE),
    ],
)
def test_what_becomes_of_a_node(
    seconds: float, kind: str, verb: str, reason: str, fate: Fate
) -> None:
    step = decided(90, verb, reason, Reference("Node", "a"), node="a")
    shown = seen(seconds, marked(0, reason=kind), step)
    assert shown.nodes[0].fate is fate
    assert shown.calm is (fate in {Fate.STAYS, Fate.GONE})


def test_a_node_whose_time_is_over_goes_on_while_pods_are_left_on_it() -> None:
    shown = seen(130, marked(0), of_pod(2, "release", "NodeDoomed"))
    (node,) = shown.nodes
    assert (node.fate, node.seconds, node.left) == (Fate.GOES, -10, 1)
    assert shown.pools[0].ends == ["0s (1)"]


def test_pools_stand_by_how_many_pods_are_left_and_on_demand_last() -> None:
    pools = {"a": "m5 in x", "b": "c5 in x", "c": "on-demand", "d": "m5 in x"}
    records = [marked(0), marked(0, "b"), of_pod(2, "release", "NodeDoomed", node="b")]
    shown = seen(9, *records, pools=pools, left=pools)
    assert [(each.name, each.nodes, each.left) for each in shown.pools] == [
        ("c5 in x", 1, 1),
        ("m5 in x", 2, 0),
        ("on-demand", 1, 0),
    ]


def test_nodes_that_are_not_left_do_not_count_as_nodes_of_their_pool() -> None:
    off = decided(125, "complete", "InstanceOff", Reference("Node", "a"), node="a")
    pools = {"a": "m5 in x", "b": "m5 in x", "c": "m5 in x"}
    shown = seen(130, marked(0), marked(100, "b"), off, pools=pools, left={"b", "c"})
    (pool,) = shown.pools
    assert (pool.nodes, pool.going, pool.ends) == (2, 1, ["90s", "1 gone"])


CAUSE = {"cause": "two versions must not meet", "remedy": "set the strategy to RollingUpdate"}


def test_the_worst_workload_comes_first_with_why_and_what_to_do() -> None:
    db = Reference("StatefulSet", "db", "shop", "db-uid")
    shown = seen(
        20,
        marked(0),
        *handed_over(2, "web-1"),
        counted(2, 3),
        of_pod(3, "evict", "Recreate", "api-1", workload=API, **CAUSE),
        counted(3, 0, 1, API),
        of_pod(4, "evict", "StatefulSet", "db-1", workload=db),
        counted(4, 1, 2, db),
        plain=[],
    )
    assert [each.subject.name for each in shown.workloads] == ["api", "db", "web"]
    worst, _, best = shown.workloads
    assert (worst.ready, worst.wanted, worst.lowest, worst.is_zero) == (0, 1, 0, True)
    assert worst.why == "two versions must not meet"
    assert worst.change == "set the strategy to RollingUpdate"
    assert (best.ok, best.why, best.is_low) == ("kept", "", False)


def test_who_is_low_on_others_part_is_said_to_be() -> None:
    shown = seen(200, marked(0), counted(150, 2))
    (low,) = shown.workloads
    assert low.why == "it was short before"


def test_decisions_are_told_in_plain_words_the_last_one_first() -> None:
    shown = seen(9, marked(0, "ip-1.internal"), of_pod(2, "evict", "X", message="it can go"))
    assert [(each.at, each.text) for each in shown.decisions] == [
        (2.0, "shop/web-1 is told to go: it can go"),
        (0.0, "ip-1 has to go: because of SpotInterruption"),
    ]
    assert shown.decided == 2


def test_of_waiting_only_what_a_person_should_know_is_told() -> None:
    waits = of_pod(1, "wait", "BudgetHolds")
    warned = of_pod(2, "wait", "BudgetHolds", warning=True)
    assert [each.warning for each in seen(9, marked(0), waits, warned).decisions] == [True, False]


def test_the_time_line_counts_what_is_missing_and_no_surplus_makes_up_for_it() -> None:
    beside = [
        PodCount(at=at(s), workload=API, available=n, wanted=2)
        for s, n in [(0, 2), (10, 0), (30, 2)]
    ]
    shown = seen(
        60,
        marked(0),
        counted(0, 3),
        counted(8, 5),
        counted(0, 2, 2, API),
        counted(9, 1, 2, API),
        plain=beside,
    )
    assert shown.course is not None
    assert list(shown.course.points) == [(0.0, 5, 5), (8.0, 5, 5), (9.0, 4, 5)]
    assert list(shown.course.plain) == [(0.0, 2, 2), (10.0, 0, 2), (30.0, 2, 2)]
    assert (shown.course.now, shown.course.lasts) == (60.0, 120.0)


def test_a_workload_whose_count_was_not_known_is_no_part_of_the_time_line() -> None:
    shown = seen(60, marked(0), counted(0, 3), counted(5, None), counted(0, 2, 2, API))
    assert shown.course is not None
    assert list(shown.course.points) == [(0.0, 2, 2)]


def test_the_time_line_tells_moves_for_a_notice_from_those_of_restore() -> None:
    moved = [
        of_pod(1, "release", "AboveFloor", "web-2", node="b"),
        of_pod(4.2, "evict", "ReplacementAvailable", "web-2", node="b"),
    ]
    shown = seen(60, marked(0), *handed_over(2, "web-1"), *handed_over(2, "web-3"), *moved)
    assert shown.course is not None
    assert list(shown.course.moves) == [(4, 1, True), (7, 2, False)]


def test_what_else_is_to_be_known_and_what_of_it_is_bad() -> None:
    idle = LeaseHolder(identity="", held=False, renewed=None, seconds_ago=130)
    shown = seen(
        0,
        mode="observe",
        paused="paused by ada",
        note="no answer",
        lease=idle,
        around=Around(headroom="Headroom: 2 pods. 3 are needed.", money=MONEY),
    )
    found = facts(shown)
    assert found.pop("version")
    assert found == {
        "note": "no answer",
        "mode": "observe",
        "paused": "paused by ada",
        "at work": "nobody, last 2m10s ago",
        "a month": "$100 now, spot saves $2,000",
        "floors": "none is asked for",
        "headroom": "2 pods",
    }
    assert {each.name for each in shown.facts if each.bad} == {"note", "mode", "paused"}


@pytest.mark.parametrize(
    ("lease", "told"),
    [
        (None, "nobody yet"),
        (LeaseHolder(identity="e/1", held=True, renewed=None), "e/1"),
        (LeaseHolder(identity="e/1", held=False, renewed=None), "nobody"),
        (LeaseHolder(identity="e" * 40, held=True, renewed=None), "e" * 23 + "…"),
    ],
    ids=["no Lease", "held", "nobody knows since when", "long"],
)
def test_who_is_at_work(lease: LeaseHolder | None, told: str) -> None:
    assert facts(seen(0, lease=lease, around=Around()))["at work"] == told


def test_a_rehearsal_begins_calm_shows_the_storm_beside_a_plain_eviction_and_ends_calm() -> None:
    first, midst, last = story()
    assert first.headline == "No node is going."
    assert [each.stands for each in first.floors] == [True] * 4
    assert facts(first)["floors"] == "4 of 4 stand"
    assert facts(first)["a month"].startswith("$")

    assert midst.headline.startswith("3 nodes going, the first in ")
    assert midst.pools[0].name == "c6i.2xlarge in eu-central-1a"
    assert all(each.plain is not None for each in midst.workloads)
    course = midst.course
    assert course is not None
    assert course.now == pytest.approx(104, abs=4)
    missing = [max(each.wanted - each.serving for each in p) for p in (course.points, course.plain)]
    assert missing[0] < missing[1]

    assert last.calm
    assert last.course is not None
    assert last.course.points[-1].serving == last.course.points[-1].wanted
    assert timedelta(seconds=last.course.now) > timedelta(minutes=2)


def over(*records: Record, **known: Any) -> Screen:
    """The screen of an interruption of which all is told."""
    account = incident.of(records)
    return making.of(Known(at=at(2_000), source="a log", account=account, over=True, **known))


def test_of_what_is_over_the_first_screen_says_which_workloads_dipped_why_and_what_to_change() -> (
    None
):
    shown = over(
        of_pod(0, "evict", "Recreate", **CAUSE), counted(0, 3), counted(3, 2), counted(70, 3)
    )
    assert shown.headline == (
        "Of 1 workload with pods that had to move none kept all that are wanted, 1 dipped for a"
        " reason that is named, none failed; no pod was late."
    )
    assert [(each.name, each.text, each.bad) for each in shown.figures] == [
        ("workloads that dipped", "1 of 1", True),
        ("without a named reason", "0", False),
        ("pods late", "0 of 1", False),
        ("nodes", "1", False),
    ]
    (web,) = shown.workloads
    assert web.why == "two versions must not meet"
    assert web.change == "set the strategy to RollingUpdate"
    assert not shown.sentences
    assert shown.course is not None
    assert [each.below for each in shown.course.minutes] == [1, 1]
    assert list(shown.course.points) == [(0.0, 3, 3), (3.0, 2, 3), (70.0, 3, 3)]


def test_what_is_over_ends_with_the_storm_and_not_with_a_hint() -> None:
    """A recommendation expires a quarter of an hour later, and its node lives on."""
    hint = {"reason": HINT, "until": at(900)}
    shown = over(
        *(marked(0), marked(3, "b", **hint)),
        *(counted(after, ready) for after, ready in ((5, 3), (20, 2), (70, 3))),
        decided(900, "lift", "HintExpired", Reference("Node", "b"), node="b"),
        plain=[
            PodCount(at=at(400), workload=API, available=1, wanted=1),
        ],
    )
    assert shown.at == at(120)
    assert shown.course is not None
    assert (shown.course.now, shown.course.lasts) == (120.0, 120.0)
    assert [each.deadlines for each in shown.course.minutes] == [0, 0, 1]
    assert {each.name: each.fate for each in shown.nodes} == {"a": Fate.GONE, "b": Fate.STAYS}


def test_what_is_over_ends_with_the_storm_however_long_a_low_workload_was_watched() -> None:
    counts = [PodCount(at=at(s), workload=WEB, available=n, wanted=3) for s, n in ((0, 3), (20, 2))]
    account = incident.seen([marked(0), of_pod(20, "evict", "Recreate")], Seen(at(900), counts))
    shown = making.of(Known(at=at(900), source="a storm", account=account, over=True))
    assert shown.at == at(120)
    assert shown.workloads[0].below == 880


def test_what_is_not_known_is_no_number_and_others_dips_are_marked() -> None:
    gone = of_pod(0, "evict", "Recreate")
    last = of_pod(60, "wait", "ReplacementPending", "web-2")
    shown = over(gone, counted(0, 3), counted(9, 2), counted(20, 3), counted(50, 1), last)
    (web,) = shown.workloads
    assert list(web.counts[1:]) == [
        Counted(9, 2, 3, by_others=False),
        Counted(20, 3, 3, by_others=False),
        Counted(50, 1, 3, by_others=True),
        Counted(50, None, 3, by_others=False),
    ]
    assert shown.course is not None
    assert not shown.course.points


def test_of_what_is_over_only_what_does_not_change_any_more_is_told_of_the_cluster() -> None:
    around = Around(headroom="Headroom: 2 pods.", money=MONEY)
    shown = over(marked(0), around=around, mode="act")
    assert facts(shown) == {"mode": "act", "a month": "$100 now, spot saves $2,000"}
    assert shown.money is MONEY


def test_in_observe_mode_the_headline_of_what_is_over_says_that_nothing_was_written() -> None:
    record = of_pod(0, "evict", "Recreate")
    shown = over(msgspec.structs.replace(record, mode="observe"))
    assert shown.headline.endswith(" Nothing was written: observe mode.")


def test_late_pods_stand_by_reason_with_their_workloads_and_what_prevents_it() -> None:
    late = {"warning": True, "forced": True}
    slow = {"cause": "it was slow", "remedy": "be quick"}
    full = {"cause": "it was full", "remedy": "have room"}
    shown = over(
        marked(0),
        of_pod(1, "wait", "ReplacementPending", "web-1", **slow),
        of_pod(5, "evict", "LastMoment", "web-1", **late),
        of_pod(1, "wait", "ReplacementPending", "api-1", workload=API, **slow),
        of_pod(5, "evict", "LastMoment", "api-1", workload=API, **late),
        of_pod(1, "wait", "QuotaRefuses", "web-2", **full),
        of_pod(5, "evict", "LastMoment", "web-2", **late),
    )
    assert [(each.pods, each.why, each.workloads) for each in shown.late] == [
        (2, "it was slow", ["shop/deploy/api", "shop/deploy/web"]),
        (1, "it was full", ["shop/deploy/web"]),
    ]
    assert [each.change for each in shown.late] == ["be quick", "have room"]


def test_a_pod_has_its_way_its_times_and_every_decision_about_it() -> None:
    shown = over(marked(0), *handed_over(2, "web-1"))
    (pod,) = shown.pods
    assert (pod.workload, pod.way, pod.node) == ("shop/deploy/web", "handed over", "a")
    assert (pod.released, pod.went, pod.late) == (2.0, 7.0, False)
    assert [each[:3] for each in pod.steps] == [
        (2.0, "release", "NodeDoomed"),
        (7.0, "evict", "ReplacementAvailable"),
    ]
