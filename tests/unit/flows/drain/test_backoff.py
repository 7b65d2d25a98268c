"""How long an object rests that refused a write, and for how long its refusals are remembered."""

import pytest

from evenkeel.errors import ConflictError, InvalidError
from evenkeel.flows.drain.dispatch.backoff import Backoff
from evenkeel.model.decision import Verb
from tests.kit.builders import NOW, seconds


def rests(backoff: Backoff, uid: str = "a", verb: Verb | None = Verb.RELEASE) -> list[float]:
    """After how many seconds a write may be sent again, for ten refusals in a row."""
    found, now = list[float](), NOW
    for _ in range(10):
        backoff.refused(uid, verb, now)
        at = backoff.next_at(now)
        assert at is not None
        assert not backoff.may_write(uid, verb, at - seconds(0.001))
        assert backoff.may_write(uid, verb, at)
        found.append((at - now).total_seconds())
        now = at
    return found


def test_each_refusal_in_a_row_doubles_the_rest_up_to_the_last() -> None:
    assert rests(Backoff()) == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 18, 18, 18]


def test_a_write_that_is_taken_ends_the_row() -> None:
    backoff = Backoff()
    backoff.refused("a", Verb.EVICT, NOW)
    backoff.refused("a", Verb.EVICT, NOW)
    backoff.forget("a", Verb.EVICT)
    assert backoff.may_write("a", Verb.EVICT, NOW)
    backoff.refused("a", Verb.EVICT, NOW)
    assert backoff.next_at(NOW) == NOW + seconds(0.2)


def test_what_is_sent_at_the_last_moment_does_not_wait_for_other_writes() -> None:
    backoff = Backoff()
    backoff.refused("a", Verb.EVICT, NOW)
    assert not backoff.may_write("a", Verb.EVICT, NOW)
    assert backoff.may_write("a", Verb.RELEASE, NOW)
    assert backoff.may_write("a", None, NOW)
    assert backoff.may_write("b", Verb.EVICT, NOW)


@pytest.mark.parametrize(("asked", "rest"), [(1, 1), (0.1, 0.2), (30, 30)])
def test_an_api_server_that_asks_for_a_pause_gets_it(asked: float, rest: float) -> None:
    backoff = Backoff()
    backoff.refused("a", Verb.EVICT, NOW, at_least=seconds(max(asked, 0.2)))
    assert backoff.next_at(NOW) == NOW + seconds(rest)


def test_the_next_end_of_a_rest_is_the_earliest_that_is_to_come() -> None:
    backoff = Backoff()
    assert backoff.next_at(NOW) is None
    backoff.refused("a", Verb.EVICT, NOW)
    backoff.refused("b", Verb.EVICT, NOW, at_least=seconds(3))
    assert backoff.next_at(NOW) == NOW + seconds(0.2)
    assert backoff.next_at(NOW + seconds(0.2)) == NOW + seconds(3)
    assert backoff.next_at(NOW + seconds(3)) is None


def test_only_refusals_of_one_kind_in_a_row_are_counted_together() -> None:
    backoff = Backoff()
    of_kinds = [InvalidError, InvalidError, ConflictError, InvalidError, InvalidError]
    counted = [backoff.in_vain("a", Verb.RELEASE, kind) for kind in of_kinds]
    assert counted == [1, 2, 1, 1, 2]
    assert backoff.in_vain("a", Verb.EVICT, InvalidError) == 1


def test_five_minutes_after_its_last_rest_an_object_is_as_good_as_new() -> None:
    backoff = Backoff()
    for _ in range(3):
        backoff.refused("a", Verb.EVICT, NOW)
    ended = NOW + seconds(0.8)
    backoff.begin(ended + seconds(299))
    assert rests(backoff, verb=Verb.EVICT)[0] == 1.6
    backoff = Backoff()
    backoff.refused("a", Verb.EVICT, NOW)
    backoff.begin(NOW + seconds(0.2) + seconds(300))
    assert rests(backoff, verb=Verb.EVICT)[0] == 0.2
