"""What is off with a workload, with what restore says of it."""

import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.floor.standing import Standing, stand
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.floor import ALL, NONE, Floor
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Write
from evenkeel_cli.status.with_restore import remarks
from tests.kit import builders

WEB = builders.deployment(replicas=2)
MADE = builders.replica_set(of=WEB, replicas=2)
POD = builders.pod("web-1", of=MADE, node="s1")
NODES = {"s1": Capacity.SPOT, "o1": Capacity.ON_DEMAND}


def standing(*pods: Pod, floor: Floor = ALL, is_managed: bool = True) -> Standing:
    found = FloorOf(floor, Source.WORKLOAD)
    return stand(WEB, found, pods, NODES, is_managed=is_managed)


def restore(
    reason: Reason,
    message: str = "as it says",
    *,
    verb: Verb = Verb.LEAVE,
    write: Write | None = None,
) -> Decision:
    made = Decision.about(POD, verb, reason, message, workload=WEB.reference)
    return msgspec.structs.replace(made, write=write)


BELOW = standing(POD, builders.pod("web-2", of=MADE, node="s1"))
ABOVE = standing(*(builders.pod(f"web-{n}", of=MADE, node="o1") for n in range(2)), floor=NONE)


@pytest.mark.parametrize("found", [BELOW, ABOVE], ids=["below its floor", "above its floor"])
def test_what_restore_does_about_it_is_said(found: Standing) -> None:
    (plain,) = remarks(found, [], None)
    (left,) = remarks(found, [], restore(Reason.NO_ROOM, "no node has room"))
    assert left.message == f"{plain.message}; now it does not: no node has room"
    assert (left.reason, left.brief, left.warning) == (plain.reason, plain.brief, plain.warning)


def test_the_move_that_is_next_is_said() -> None:
    write = writes.annotate(POD, "a", "b")
    (told,) = remarks(BELOW, [], restore(Reason.BELOW_FLOOR, "why", verb=Verb.RELEASE, write=write))
    assert told.message.endswith("; next: release web-1, why")


def test_of_one_that_is_not_managed_restore_says_nothing() -> None:
    found = standing(POD, is_managed=False)
    assert remarks(found, [], restore(Reason.COOLING_DOWN)) == remarks(found, [], None)


def test_why_pods_wait_is_said_in_restore_s_words() -> None:
    found = standing(builders.pod("web-1", of=MADE, node="", ready=False))
    (plain,) = remarks(found, [], None)
    assert found.told_of_waiting in plain.message
    (told,) = remarks(found, [], restore(Reason.PODS_WAIT, "a taint keeps it off"))
    assert told.message == plain.message.replace(found.told_of_waiting, "a taint keeps it off")
    (other,) = remarks(found, [], restore(Reason.NO_ROOM, "a taint keeps it off"))
    assert other.message == plain.message


@pytest.mark.parametrize("warning", [True, False])
def test_what_restore_says_of_the_workload_itself_is_a_remark_of_its_own(*, warning: bool) -> None:
    rests = msgspec.structs.replace(restore(Reason.COOLING_DOWN, "it rests"), warning=warning)
    *_, last = remarks(BELOW, [], rests)
    assert (last.reason, last.brief, last.message) == (
        Reason.COOLING_DOWN,
        "cooling down",
        "it rests",
    )
    assert last.warning is warning
