"""What the watches prove: that nothing is missing of what had happened by a moment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Self

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.flows.handover import selections
from evenkeel.flows.handover.freshness import INTERVAL, PATIENCE, Freshness
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, List, Listing, Relisted, Request, Selection
from evenkeel.ports import Arrival, Reply
from tests import builders
from tests.builders import NOW

RELEASED = selections.RELEASED_PODS
OWNED = selections.pods_of_hashes(["abc"])
WATCHES = [RELEASED, OWNED]
MILLISECOND = timedelta(milliseconds=1)


class Mailbox:
    """A session that keeps what was asked."""

    capacity = 32
    in_flight = 0

    def __init__(self) -> None:
        self.sent: list[Request] = []

    def submit(self, request: Request) -> None:
        self.sent.append(request)

    def watch(self, selection: Selection[KubernetesObject]) -> None: ...

    def unwatch(self, selection: Selection[KubernetesObject]) -> None: ...

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        del timeout
        return ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None: ...


ONE = {"web": frozenset({"a"})}
TWO = {"web": frozenset({"a", "b"})}
THREE = {"web": frozenset({"a", "b", "c"})}


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def freshness(mailbox: Mailbox) -> Freshness:
    """Its question about one of two pods that could go is asked; the API server is at 100."""
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), TWO, NOW)
    (question,) = mailbox.sent
    assert isinstance(question, List)
    asked.saw(Reply(question, Listing((), "100")))
    return asked


def shown(selection: Selection[Pod], revision: int, *, deleted: bool = False) -> Change[Pod]:
    return Change(selection, builders.pod("other", revision=revision), deleted=deleted)


def test_the_cheapest_question_is_asked(mailbox: Mailbox) -> None:
    Freshness(mailbox).ask(builders.pod("web-0"), TWO, NOW)
    assert mailbox.sent == [List(Selection(Pod, "default", fields="metadata.name=web-0"))]


def test_it_is_proven_once_every_watch_has_come_as_far(freshness: Freshness) -> None:
    freshness.saw(shown(RELEASED, 101))
    assert freshness.proven(WATCHES) == {}
    freshness.saw(shown(OWNED, 99))
    assert freshness.proven(WATCHES) == {}
    freshness.saw(shown(OWNED, 100, deleted=True))
    assert freshness.proven(WATCHES) == TWO


def test_a_watch_that_begins_anew_has_come_as_far_as_its_list(freshness: Freshness) -> None:
    freshness.saw(shown(RELEASED, 101))
    freshness.saw(Relisted(OWNED, Listing((), "100")))
    assert freshness.proven(WATCHES) == TWO


def test_what_was_shown_before_the_answer_counts_too(mailbox: Mailbox) -> None:
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), ONE, NOW)
    asked.saw(shown(RELEASED, 100))
    asked.saw(shown(OWNED, 100))
    assert asked.proven(WATCHES) == {}
    asked.saw(Reply(mailbox.sent[0], Listing((), "100")))
    assert asked.proven(WATCHES) == ONE


def test_each_question_proves_its_claims_once(freshness: Freshness) -> None:
    for watch in WATCHES:
        freshness.saw(shown(watch, 100))
    assert freshness.proven(WATCHES)
    assert freshness.proven(WATCHES) == {}


def test_without_a_watch_nothing_is_proven(freshness: Freshness) -> None:
    assert freshness.proven([]) == {}


def test_one_question_at_a_time_and_not_too_often(mailbox: Mailbox, freshness: Freshness) -> None:
    freshness.ask(builders.pod("web-0"), THREE, NOW + INTERVAL)
    assert len(mailbox.sent) == 1
    for watch in WATCHES:
        freshness.saw(shown(watch, 100))
    assert freshness.proven(WATCHES) == TWO
    freshness.ask(builders.pod("web-0"), THREE, NOW + INTERVAL - MILLISECOND)
    assert len(mailbox.sent) == 1
    freshness.ask(builders.pod("web-0"), THREE, NOW + INTERVAL)
    assert len(mailbox.sent) == 2


def test_a_watch_that_shows_nothing_proves_nothing_and_the_question_is_dropped(
    mailbox: Mailbox, freshness: Freshness
) -> None:
    freshness.saw(shown(RELEASED, 100))
    assert not freshness.is_slow(NOW + PATIENCE - MILLISECOND)
    assert freshness.is_slow(NOW + PATIENCE)
    freshness.saw(shown(OWNED, 100))
    assert freshness.proven(WATCHES) == {}
    freshness.ask(builders.pod("web-0"), ONE, NOW + PATIENCE)
    assert len(mailbox.sent) == 2


def test_a_question_without_an_answer_proves_nothing(mailbox: Mailbox) -> None:
    asked = Freshness(mailbox)
    asked.ask(builders.pod("web-0"), ONE, NOW)
    asked.saw(Reply(mailbox.sent[0], error=UnavailableError("reset")))
    for watch in WATCHES:
        asked.saw(shown(watch, 1_000))
    assert asked.proven(WATCHES) == {}
    asked.ask(builders.pod("web-0"), ONE, NOW + INTERVAL)
    assert len(mailbox.sent) == 2
