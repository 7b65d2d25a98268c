"""A shared storm: who may write, and when the first one may free its Lease."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.lease.sharing import Stage
from evenkeel.flows.drain.lease.wire import DURATION
from evenkeel.model import names
from evenkeel.model.division import Division, lease_of
from evenkeel.ports import Reply
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW

SECOND = timedelta(seconds=1)
TWO = Division(of=2)


class Storm:
    """A storm that the first of two reconcilers has divided."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(NOW)
        self.cluster = SimulatedCluster(self.clock)
        self.called = list[int]()
        self.first = self.reconciler("first")
        assert not self.first.look()
        assert self.first.take()
        assert self.first.divide(TWO).of == TWO.of

    def reconciler(self, holder: str) -> Leadership:
        """One of which no workload would reach zero."""
        recorder = InMemoryRecorder()
        made = Leadership(self.cluster, self.clock, recorder, holder, None, call=self.called.append)
        made.sharing.zeros_wait = lambda: False
        return made

    def joined(self, holder: str) -> Leadership:
        """One that has found the share free, and has not taken it yet."""
        made = self.reconciler(holder)
        assert made.look() > timedelta()
        assert made.join() == 1
        return made

    def beat(self, leadership: Leadership, after: timedelta = 3 * SECOND) -> None:
        """Send the next heartbeat, and take its replies."""
        self.clock.advance(after)
        with self.cluster.session() as session:
            leadership.beat(session)
            while arrivals := session.next(SECOND / 10):
                for each in arrivals:
                    if isinstance(each, Reply) and each.then is not None:
                        each.then(each)

    def holder(self, number: int) -> str:
        """Who holds a Lease."""
        (lease,) = (
            each
            for each in self.cluster.objects("Lease")
            if each["metadata"]["name"] == lease_of(number)
        )
        return str(lease["spec"].get("holderIdentity") or "")

    def note(self, key: str) -> str:
        """What the first Lease notes."""
        leases = self.cluster.objects("Lease")
        (first,) = (each for each in leases if each["metadata"]["name"] == lease_of(0))
        return str(first["metadata"]["annotations"].get(key))


@pytest.fixture
def storm() -> Storm:
    """Two reconcilers are to share it."""
    return Storm()


def test_one_that_takes_a_share_writes_nothing_before_it_has_looked_at_the_first_lease(
    storm: Storm,
) -> None:
    second = storm.joined("second")
    assert second.take()
    assert second.left() == timedelta()
    storm.beat(storm.first)
    storm.beat(second)
    assert second.left() > timedelta()


def test_the_others_write_no_longer_than_the_first_may_however_they_renew(storm: Storm) -> None:
    second = storm.joined("second")
    assert second.take()
    storm.beat(storm.first)
    for _ in range(4):
        storm.beat(second)
    assert second.left() <= timedelta()
    assert not second.is_lost
    storm.beat(storm.first)
    storm.beat(second)
    assert second.left() > timedelta()


@pytest.mark.parametrize("ends", ["by another's hold", "by a division of another"])
def test_the_others_are_over_once_somebody_else_holds_the_first_lease(
    storm: Storm, ends: str
) -> None:
    second = storm.joined("second")
    assert second.take()
    storm.clock.advance(DURATION + 2 * SECOND)
    after = storm.reconciler("after")
    assert not after.look()
    assert after.take()
    if ends == "by a division of another":
        after.divide(TWO)
    storm.beat(second)
    assert second.is_lost
    assert second.left() == timedelta()


def test_the_first_has_the_others_come_until_each_share_is_somebodys(storm: Storm) -> None:
    storm.beat(storm.first)
    storm.beat(storm.first)
    assert storm.called == [1]
    for _ in range(5):
        storm.beat(storm.first)
    assert storm.called == [1, 1]
    second = storm.joined("second")
    assert second.take()
    for _ in range(10):
        storm.beat(second)
        storm.beat(storm.first)
    assert storm.called == [1, 1]


def goes_on(leadership: Leadership) -> Callable[[], bool]:
    """Whether a reconciler goes on of whose share nothing is left."""
    return lambda: leadership.sharing.goes_on(is_done=True)


def test_the_first_works_until_nothing_is_left_of_any_share_and_all_have_gone(
    storm: Storm,
) -> None:
    second = storm.joined("second")
    assert second.take()
    storm.beat(second)
    storm.beat(storm.first)
    first_goes_on, second_goes_on = goes_on(storm.first), goes_on(second)
    assert first_goes_on()
    assert storm.note(names.SHARE_STAGE) != ""
    assert second_goes_on()
    storm.beat(second)
    storm.beat(storm.first)
    assert first_goes_on()
    storm.beat(storm.first)
    assert storm.note(names.SHARES) == ""
    storm.beat(second)
    assert second.is_lost
    assert first_goes_on()
    second.give_up(None)
    storm.beat(storm.first)
    assert not first_goes_on()
    storm.first.give_up(None)
    assert (storm.holder(0), storm.holder(1)) == ("", "")


def test_one_that_comes_when_the_first_is_about_to_go_is_waited_for(storm: Storm) -> None:
    """It found the share free, and the storm divided, a moment before it is not any more."""
    second = storm.joined("second")
    assert second.take()
    second.sharing.goes_on(is_done=True)
    storm.beat(second)
    late = storm.reconciler("late")
    for _ in range(4):
        storm.beat(storm.first)
    assert storm.first.sharing.goes_on(is_done=True)
    storm.clock.advance(5 * SECOND)
    assert late.look() > timedelta()
    assert late.join() == 1

    storm.beat(storm.first)
    assert storm.note(names.SHARES) == ""
    assert not storm.first.sharing.may_be_freed, "what it was told was asked before"
    assert late.take()
    storm.beat(storm.first)
    storm.first.give_up(None)
    assert storm.holder(0) == "first"
    storm.beat(late)
    assert late.is_lost
    assert late.left() == timedelta()
    late.give_up(None)
    storm.beat(storm.first)
    storm.first.give_up(None)
    assert storm.holder(0) == ""


def test_the_first_keeps_a_lease_on_which_a_late_renewal_has_noted_the_division_again(
    storm: Storm,
) -> None:
    """Somebody may have joined by it."""
    second = storm.joined("second")
    assert second.take()
    second.sharing.goes_on(is_done=True)
    storm.beat(second)
    storm.beat(storm.first)
    assert storm.first.sharing.goes_on(is_done=True)
    storm.beat(storm.first)
    second.give_up(None)
    storm.beat(storm.first)
    assert storm.first.sharing.may_be_freed
    note = {names.SHARES: storm.first.sharing.division.note}
    body = {"metadata": {"annotations": note}}
    storm.cluster.server.patch("Lease", (names.SYSTEM_NAMESPACE, names.HANDOVER_LEASE), body)
    storm.first.give_up(None)
    assert storm.holder(0) == "first"
    storm.beat(storm.first)
    storm.first.give_up(None)
    assert storm.holder(0) == ""


def test_a_lease_of_before_says_nothing_of_a_division_of_now(storm: Storm) -> None:
    """Its holder was done with his share of another storm."""
    second = storm.joined("second")
    assert second.take()
    second.sharing.goes_on(is_done=True)
    storm.beat(storm.first)
    storm.beat(second)
    assert second.sharing.notes[names.SHARE_STAGE] == Stage.DONE
    storm.clock.advance(DURATION - SECOND)
    after = storm.reconciler("after")
    assert not after.look()
    assert after.take()
    after.divide(TWO)
    storm.beat(after, timedelta())
    assert second.left() <= timedelta()
    assert after.sharing.goes_on(is_done=True)
    storm.beat(after)
    assert storm.note(names.SHARES) == after.sharing.division.note
