"""What the watches prove: that nothing is missing of what had happened by a moment."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Self

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.flows.handover import selections
from evenkeel.flows.handover.freshness import (
    ANSWERED_WITHIN,
    INTERVAL,
    SHOWN_WITHIN,
    Claim,
    Freshness,
)
from evenkeel.flows.handover.questions import AtOnce
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, List, Listing, Relisted, Request, Selection
from evenkeel.ports import Arrival, Reply
from tests import builders
from tests.builders import NOW

RELEASED = selections.RELEASED_PODS
OWNED = selections.pods_of_hashes(["abc"])
WATCHES = (RELEASED, OWNED)
OTHERS = selections.pods_of_hashes(["def"])
MILLISECOND = timedelta(milliseconds=1)


class Mailbox:
    """A session that keeps what was asked."""

    capacity = 32
    in_flight = 0

    def __init__(self) -> None:
        self.sent: list[Request] = []

    def submit(self, request: Request) -> None:
        self.sent.append(request)

    def start[T](self, work: Callable[[], T]) -> Future[T]:
        return AtOnce().start(work)

    def watch(self, selection: Selection[KubernetesObject]) -> None: ...

    def unwatch(self, selection: Selection[KubernetesObject]) -> None: ...

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        del timeout
        return ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None: ...


def claims(*uids: str) -> dict[str, Claim]:
    return {"web": Claim(frozenset(uids), WATCHES)}


TWO = {"web": frozenset({"a", "b"})}


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def freshness(mailbox: Mailbox) -> Freshness:
    """Its question about one of two pods that could go is asked; the API server is at 100."""
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), claims("a", "b"), NOW)
    (question,) = mailbox.sent
    assert isinstance(question, List)
    asked.saw(Reply(question, Listing((), "100")), NOW)
    return asked


def shown(selection: Selection[Pod], revision: int, *, deleted: bool = False) -> Change[Pod]:
    return Change(selection, builders.pod("other", revision=revision), deleted=deleted)


def test_the_cheapest_question_is_asked(mailbox: Mailbox) -> None:
    Freshness(mailbox).ask(builders.pod("web-0"), claims("a"), NOW)
    assert mailbox.sent == [List(Selection(Pod, "default", fields="metadata.name=web-0"))]


def test_it_is_proven_once_every_watch_has_come_as_far(freshness: Freshness) -> None:
    freshness.saw(shown(RELEASED, 101), NOW)
    assert freshness.proven() == {}
    freshness.saw(shown(OWNED, 99), NOW)
    assert freshness.proven() == {}
    freshness.saw(shown(OWNED, 100, deleted=True), NOW)
    assert freshness.proven() == TWO


def test_a_watch_that_begins_anew_has_come_as_far_as_its_list(freshness: Freshness) -> None:
    freshness.saw(shown(RELEASED, 101), NOW)
    freshness.saw(Relisted(OWNED, Listing((), "100")), NOW)
    assert freshness.proven() == TWO


def test_what_was_shown_before_the_answer_counts_too(mailbox: Mailbox) -> None:
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), claims("a"), NOW)
    asked.saw(shown(RELEASED, 100), NOW)
    asked.saw(shown(OWNED, 100), NOW)
    assert asked.proven() == {}
    asked.saw(Reply(mailbox.sent[0], Listing((), "100")), NOW)
    assert asked.proven() == {"web": frozenset({"a"})}


def test_each_question_proves_its_claims_once(freshness: Freshness) -> None:
    for watch in WATCHES:
        freshness.saw(shown(watch, 100), NOW)
    assert freshness.proven()
    assert freshness.proven() == {}


def test_a_silent_watch_holds_back_its_own_claims_alone(mailbox: Mailbox) -> None:
    """It shows pods that are through: there is nothing to show of them any more."""
    asked = Freshness(mailbox)
    silent = Claim(frozenset({"z"}), (RELEASED, OTHERS))
    asked.ask(builders.pod("web-0"), {**claims("a", "b"), "job": silent}, NOW)
    asked.saw(Reply(mailbox.sent[0], Listing((), "100")), NOW)
    for watch in WATCHES:
        asked.saw(shown(watch, 100), NOW)
    assert asked.proven() == TWO
    assert asked.can_be_proven(silent.watches)
    assert asked.give_up(NOW + SHOWN_WITHIN) == ("job",)
    assert not asked.is_open
    assert not asked.can_be_proven(silent.watches)
    assert asked.can_be_proven(WATCHES)
    asked.saw(shown(OTHERS, 101), NOW)
    assert asked.can_be_proven(silent.watches)


def test_one_question_at_a_time_and_not_too_often(mailbox: Mailbox, freshness: Freshness) -> None:
    freshness.ask(builders.pod("web-0"), claims("a", "b", "c"), NOW + INTERVAL)
    assert len(mailbox.sent) == 1
    for watch in WATCHES:
        freshness.saw(shown(watch, 100), NOW)
    assert freshness.proven() == TWO
    freshness.ask(builders.pod("web-0"), claims("a", "b", "c"), NOW + INTERVAL - MILLISECOND)
    assert len(mailbox.sent) == 1
    freshness.ask(builders.pod("web-0"), claims("a", "b", "c"), NOW + INTERVAL)
    assert len(mailbox.sent) == 2


def test_a_watch_that_shows_nothing_proves_nothing_and_the_question_is_dropped(
    mailbox: Mailbox, freshness: Freshness
) -> None:
    freshness.saw(shown(RELEASED, 100), NOW)
    assert freshness.give_up(NOW + SHOWN_WITHIN - MILLISECOND) == ()
    assert freshness.give_up(NOW + SHOWN_WITHIN) == ("web",)
    freshness.saw(shown(OWNED, 100), NOW)
    assert freshness.proven() == {}
    freshness.ask(builders.pod("web-0"), claims("a"), NOW + SHOWN_WITHIN)
    assert len(mailbox.sent) == 2


def test_a_slow_answer_is_waited_for_and_its_watches_have_their_time_after_it(
    mailbox: Mailbox,
) -> None:
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), claims("a", "b"), NOW)
    answered = NOW + ANSWERED_WITHIN - MILLISECOND
    assert asked.give_up(answered) == ()
    asked.saw(Reply(mailbox.sent[0], Listing((), "100")), answered)
    assert asked.give_up(answered + SHOWN_WITHIN - MILLISECOND) == ()
    for watch in WATCHES:
        asked.saw(shown(watch, 100), answered)
    assert asked.proven() == TWO
    assert asked.give_up(answered + SHOWN_WITHIN) == ()


def test_an_answer_that_does_not_come_is_given_up(mailbox: Mailbox) -> None:
    asked = Freshness(mailbox)
    assert asked.give_up(NOW) == ()
    asked.ask(builders.pod("web-0"), claims("a"), NOW)
    assert asked.give_up(NOW + ANSWERED_WITHIN) == ("web",)
    asked.saw(Reply(mailbox.sent[0], Listing((), "100")), NOW + ANSWERED_WITHIN)
    assert not asked.is_open


def test_a_question_without_an_answer_proves_nothing(mailbox: Mailbox) -> None:
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), claims("a"), NOW)
    asked.saw(Reply(mailbox.sent[0], error=UnavailableError("reset")), NOW)
    for watch in WATCHES:
        asked.saw(shown(watch, 1_000), NOW)
    assert asked.proven() == {}
    asked.ask(builders.pod("web-0"), claims("a"), NOW + INTERVAL)
    assert len(mailbox.sent) == 2
