"""How each pod of many clusters goes, asked of the reconciler and of the commands: one answer."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain.returning import Drain
from evenkeel.decisions.drain.route import NO_PLACE_IS_KNOWN, Route, route_of
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.room_search import RoomSearch
from evenkeel.flows.drain.workload.ways import Ways
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.request import Selection
from evenkeel.ports import Cluster
from evenkeel_cli.ways import situations
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.shapes.making import NOW
from tests.shapes.projects import PROJECTS, snapshot

SECOND = timedelta(seconds=1)

type Maker = Callable[[SimulatedClock], Cluster]


def of_project(project: str) -> Maker:
    """The cluster of one project."""
    return lambda _: RecordedCluster(snapshot(project)["items"])


CLUSTERS = {"built in": built_in.build} | {each: of_project(each) for each in PROJECTS}


def notices(now: datetime) -> Iterator[NodeNotice]:
    """One of each kind, and a scheduled change, which is a hint that names an end."""
    for kind in NoticeKind:
        yield NodeNotice(kind=kind, event_id="e", deadline=now + 600 * SECOND, since=now)
    ends = now + timedelta(days=2)
    hint = NoticeKind.REBALANCE
    yield NodeNotice(
        kind=hint, event_id="e", deadline=ends, since=now, ends_at=ends, cause="health"
    )


@pytest.mark.parametrize("age", [timedelta(minutes=10), timedelta(hours=7)], ids=["young", "old"])
@pytest.mark.parametrize("make", CLUSTERS.values(), ids=CLUSTERS.keys())
def test_the_reconciler_and_the_commands_say_the_same_of_each_pod(
    make: Maker, age: timedelta
) -> None:
    clock = SimulatedClock(NOW)
    cluster = make(clock)
    clock.advance(age)
    now, view = clock.now(), View()
    found = [
        replace(each, lacks=NO_PLACE_IS_KNOWN)
        for each in situations(cluster, [Selection(Pod)], clock, view)
        if each.pod.spec.node_name
    ]
    assert found
    ways = Ways(view, RoomSearch(cluster, WELL_KNOWN, InMemoryRecorder()))
    differ = [
        f"{notice.name} of {each.pod.reference}: {ours}, and {theirs}"
        for notice in notices(now)
        for each in found
        for ours, theirs in [(ways.of(each.pod, notice, now), each.way_for(Drain.of(notice)))]
        if ours != theirs
    ]
    assert not differ


@pytest.mark.parametrize("caller", ["evenkeel.flows.drain.workload.ways", "evenkeel_cli.ways"])
def test_the_decision_is_given_all_that_it_takes_by_both(
    caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one of them leaves to a default, such as a setting, the other may set."""
    takes = inspect.signature(route_of)
    given: list[set[str]] = []

    def noting(*args: Any, **more: Any) -> Route:
        given.append({*takes.bind(*args, **more).arguments})
        return route_of(*args, **more)

    monkeypatch.setattr(f"{caller}.route_of", noting)
    clock = SimulatedClock(NOW)
    cluster, view = built_in.build(clock), View()
    found = next(
        each
        for each in situations(cluster, [Selection(Pod)], clock, view)
        if each.pod.spec.node_name
    )
    notice = next(notices(NOW))
    found.way_for(Drain.of(notice))
    Ways(view, RoomSearch(cluster, WELL_KNOWN, InMemoryRecorder())).of(found.pod, notice, NOW)
    assert given == [{*takes.parameters}]
