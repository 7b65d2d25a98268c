"""Reconcilers whose clocks are apart: one at a time has the Lease all the same."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from evenkeel.flows.drain.lease.hold import INTERVAL, Leadership
from evenkeel.flows.drain.lease.wire import DURATION, VALID
from evenkeel.ports import Reply
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW
from tests.kit.clocks import SkewedClock
from tests.kit.manifests import deployment, on_node
from tests.stories.handover.conftest import MakeScene

SECOND = timedelta(seconds=1)
ROUNDED = 2 * SECOND
"""The API server tells its time in whole seconds, to both."""

APART = [(0, 0), (15, 0), (-15, 0), (0, 15), (0, -15), (3600, -3600)]
"""By how many seconds the clocks of two processes are ahead of the API server's."""


@dataclass
class Process:
    """A reconciler on a machine of its own."""

    name: str
    ahead: int
    clock: SimulatedClock
    cluster: SimulatedCluster

    def __post_init__(self) -> None:
        self.own = SkewedClock(self.clock, self.ahead * SECOND)
        self.leadership = Leadership(self.cluster, self.own, InMemoryRecorder(), self.name, None)

    def take(self) -> None:
        """Take the Lease, which has to be free."""
        assert self.leadership.look() == timedelta()
        assert self.leadership.take()

    def beat(self) -> None:
        """Send a heartbeat, and take its reply."""
        with self.cluster.session() as session:
            self.leadership.beat(session)
            for reply in session.next(SECOND):
                assert isinstance(reply, Reply)
                assert reply.then is not None
                reply.then(reply)

    def give_up(self, again_in: timedelta) -> bool:
        """Whether it believes that a wake-up comes by then."""
        return self.leadership.give_up(self.own.now() + again_in)


@pytest.fixture(params=APART, ids=str)
def two(request: pytest.FixtureRequest) -> tuple[Process, Process]:
    """Two processes, of which the first took the Lease just now."""
    clock = SimulatedClock(NOW + timedelta(milliseconds=700))
    cluster = SimulatedCluster(clock)
    first, second = (
        Process(name, ahead, clock, cluster)
        for name, ahead in zip(("first", "second"), request.param, strict=True)
    )
    first.take()
    return first, second


def test_the_lease_is_held_as_long_as_its_holder_may_write(two: tuple[Process, Process]) -> None:
    first, second = two
    for _ in range(20):
        assert second.leadership.look() > VALID - INTERVAL - SECOND
        first.clock.advance(INTERVAL)
        first.beat()

    while first.leadership.left() > timedelta():
        assert second.leadership.look() > timedelta()
        first.clock.advance(SECOND)


def test_a_dead_holder_s_lease_is_free_after_its_duration(two: tuple[Process, Process]) -> None:
    first, second = two
    first.clock.advance(4 * SECOND)
    first.beat()
    first.clock.advance(DURATION + ROUNDED)

    second.take()
    first.clock.advance(INTERVAL)
    first.beat()
    assert first.leadership.is_lost
    assert not second.leadership.is_lost


def test_the_holders_clock_may_be_set_while_it_works(two: tuple[Process, Process]) -> None:
    first, second = two
    first.own.by += 15 * SECOND
    first.clock.advance(4 * SECOND)
    first.beat()
    first.clock.advance(DURATION - 2 * SECOND)

    assert timedelta() < second.leadership.look() < 2 * SECOND + ROUNDED


def test_a_wake_up_that_the_other_noted_is_known_until_due(two: tuple[Process, Process]) -> None:
    first, second = two
    assert not first.give_up(again_in=20 * SECOND)

    first.clock.advance(5 * SECOND)
    second.take()
    assert second.give_up(again_in=20 * SECOND)


def test_a_wake_up_that_has_come_is_not_expected_any_more(two: tuple[Process, Process]) -> None:
    first, second = two
    first.give_up(again_in=5 * SECOND)

    first.clock.advance(9 * SECOND)
    second.take()
    assert not second.give_up(again_in=20 * SECOND)


@pytest.mark.parametrize("ahead", APART[:-1], ids=str)
def test_one_of_two_works_and_the_schedule_leads_the_other_to_no_work(
    make_scene: MakeScene, ahead: tuple[int, int]
) -> None:
    scene = make_scene(clocks_ahead=ahead)
    scene.given(deployment("stuck"))
    scene.interrupt("s1").run(until=70)

    (lease,) = scene.cluster.objects("Lease")
    assert not lease["spec"].get("leaseTransitions")
    assert scene.outcomes() == ["LeaseHeld"]


@pytest.mark.parametrize("after", [0, 1, 30, 85])
@pytest.mark.parametrize("step", [-3600, 3600, -90, 90])
def test_a_storm_goes_on_when_the_machine_s_clock_is_set(
    make_scene: MakeScene, step: float, after: float
) -> None:
    """A pod that nothing replaces waits for its last moment, which stays where it is."""
    scene = make_scene(steady=True)
    *_, stuck = scene.given(
        deployment("web", 4), deployment("stuck", pod=on_node("s1")), on="s1", spare="o1"
    )
    scene.later(after, lambda: scene.set_clock(step))
    scene.interrupt("s1").run(until=121)
    assert scene.gone_at(stuck) == pytest.approx(88.9, abs=1.1)
    assert scene.lowest("web") == 4
    assert not scene.observer.lost_pods

    scene.add_node("s2")
    scene.settle(60)
    scene.interrupt("s2").settle(180)
    assert scene.lowest("web") == 4
    assert not scene.observer.lost_pods, "nor in a storm that begins while the clock is wrong"
