"""How old what a watch shows is, by the own writes that it has shown."""

from datetime import timedelta

import pytest

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.streams import FRESH_FOR, Streams
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Listing, Relisted, Selection
from tests import builders
from tests.builders import NOW

PODS = selections.pods_of_hashes(["abc"])
OTHERS = selections.pods_of_hashes(["def"])
SECOND = timedelta(seconds=1)
LATER = NOW + 10 * SECOND


@pytest.fixture
def streams() -> Streams:
    """One watch of pods, listed at 100 when it began."""
    watched = Streams()
    watched.began(PODS, NOW)
    watched.saw(Relisted(PODS, Listing((), "100")))
    return watched


def shown(pod: Pod, selection: Selection[Pod] = PODS, *, deleted: bool = False) -> Change[Pod]:
    return Change(selection, pod, deleted=deleted)


def at(revision: int) -> Pod:
    return builders.pod("other", revision=revision)


def test_a_watch_that_was_never_listed_is_not_fresh() -> None:
    watched = Streams()
    assert not watched.is_fresh(PODS, NOW)
    watched.began(PODS, NOW)
    assert not watched.is_fresh(PODS, NOW)


def test_its_first_list_is_as_old_as_its_beginning(streams: Streams) -> None:
    assert streams.is_fresh(PODS, NOW + FRESH_FOR)
    assert not streams.is_fresh(PODS, NOW + FRESH_FOR + SECOND)
    assert not streams.is_fresh(PODS, NOW - SECOND)  # a clock that was set back


def test_a_further_list_says_nothing_of_when_it_was_asked_for(streams: Streams) -> None:
    streams.saw(Relisted(PODS, Listing((), "200")))
    assert not streams.is_fresh(PODS, LATER)


def test_an_own_write_that_it_has_shown_makes_it_as_fresh_as_when_that_was_sent(
    streams: Streams,
) -> None:
    streams.wrote(PODS, 120, LATER)
    streams.saw(shown(at(119)))
    assert not streams.is_fresh(PODS, LATER)
    streams.saw(shown(at(120)))
    assert streams.is_fresh(PODS, LATER + FRESH_FOR)


def test_a_change_that_is_newer_shows_that_the_write_was_shown(streams: Streams) -> None:
    streams.wrote(PODS, 120, LATER)
    streams.wrote(PODS, 130, LATER + SECOND)
    streams.saw(shown(at(125), deleted=True))
    assert streams.is_fresh(PODS, LATER)
    assert not streams.is_fresh(PODS, LATER + 2 * SECOND)


def test_a_reply_that_comes_after_its_echo_counts_as_well(streams: Streams) -> None:
    streams.saw(shown(at(130)))
    streams.wrote(PODS, 120, LATER)
    assert streams.is_fresh(PODS, LATER)


def test_a_list_shows_own_writes_too(streams: Streams) -> None:
    streams.wrote(PODS, 120, LATER)
    streams.saw(Relisted(PODS, Listing((), "121")))
    assert streams.is_fresh(PODS, LATER)


def test_what_one_watch_shows_says_nothing_of_another(streams: Streams) -> None:
    streams.began(OTHERS, NOW)
    streams.saw(Relisted(OTHERS, Listing((), "100")))
    streams.wrote(OTHERS, 120, LATER)
    streams.saw(shown(at(130)))
    assert not streams.is_fresh(OTHERS, LATER)
    assert not streams.is_fresh(PODS, LATER)


def test_a_write_to_what_nobody_watches_is_no_news(streams: Streams) -> None:
    streams.wrote(OTHERS, 120, LATER)
    streams.saw(shown(at(130), OTHERS))
    streams.saw(Relisted(OTHERS, Listing((), "140")))
    assert not streams.is_fresh(OTHERS, LATER)


def leaving(told_before: timedelta = timedelta()) -> Pod:
    """A pod that somebody told to go, so long before it is evicted."""
    grace = 30
    return builders.pod(
        "web-0",
        revision=120,
        deletion_timestamp=LATER - told_before + timedelta(seconds=grace),
        deletion_grace_period_seconds=grace,
    )


@pytest.mark.parametrize("deleted", [True, False])
def test_an_own_eviction_that_it_shows_makes_it_fresh(streams: Streams, *, deleted: bool) -> None:
    pod = leaving(SECOND / 2)
    streams.evicted(pod.uid, LATER)
    streams.saw(shown(pod, deleted=deleted))
    assert streams.is_fresh(PODS, LATER + FRESH_FOR)


def test_a_pod_that_somebody_else_told_to_go_before_is_no_sign_of_it(streams: Streams) -> None:
    pod = leaving(3 * SECOND)
    streams.evicted(pod.uid, LATER)
    streams.saw(shown(pod))
    assert not streams.is_fresh(PODS, LATER)


def test_an_eviction_that_was_refused_is_no_sign_either(streams: Streams) -> None:
    pod = leaving()
    streams.evicted(pod.uid, LATER)
    streams.withdrawn(pod.uid)
    streams.saw(shown(pod))
    assert not streams.is_fresh(PODS, LATER)


def test_a_pod_that_is_gone_without_a_word_counts_as_evicted(streams: Streams) -> None:
    """Its last state in the selection may be from before it was told to go."""
    pod = builders.pod("web-0", revision=120)
    streams.evicted(pod.uid, LATER)
    streams.saw(shown(pod, deleted=True))
    assert streams.is_fresh(PODS, LATER)
