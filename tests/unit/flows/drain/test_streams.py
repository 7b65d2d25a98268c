"""How old what a watch shows is, by the own writes that it has shown."""

from datetime import timedelta

import pytest

from evenkeel.flows.drain.cache.streams import (
    FRESH_FOR,
    LAGS_AFTER,
    LIST_AGAIN_AFTER,
    SILENT_AFTER,
    Stream,
)
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.request import Change, Listing, Relisted, Selection
from tests.kit import builders
from tests.kit.builders import NOW

PODS = Selection(Pod, labels="app=web")
SECOND = timedelta(seconds=1)
LATER = NOW + 10 * SECOND


@pytest.fixture
def stream() -> Stream:
    """A watch of pods, listed at 100 when it began."""
    watch = Stream(NOW)
    watch.saw(Relisted(PODS, Listing((), "100")))
    return watch


def shown(pod: Pod, *, deleted: bool = False) -> Change[Pod]:
    return Change(PODS, pod, deleted=deleted)


def at(revision: int) -> Pod:
    return builders.pod("other", revision=revision)


def test_a_watch_that_was_never_listed_shows_nothing() -> None:
    watch = Stream(NOW)
    assert not watch.has_begun
    assert not watch.shows
    assert not watch.is_fresh(NOW)


def test_its_first_list_is_as_old_as_its_beginning(stream: Stream) -> None:
    assert stream.is_fresh(NOW + FRESH_FOR)
    assert not stream.is_fresh(NOW + FRESH_FOR + SECOND)
    assert not stream.is_fresh(NOW - SECOND)  # a clock that was set back


def test_a_further_list_says_nothing_of_when_it_was_asked_for(stream: Stream) -> None:
    stream.saw(Relisted(PODS, Listing((), "200")))
    assert not stream.is_fresh(LATER)


def test_an_own_write_that_it_has_shown_makes_it_as_fresh_as_when_that_was_sent(
    stream: Stream,
) -> None:
    stream.wrote(120, LATER, LATER)
    stream.saw(shown(at(119)))
    assert not stream.is_fresh(LATER)
    stream.saw(shown(at(120)))
    assert stream.is_fresh(LATER + FRESH_FOR)


def test_a_change_that_is_newer_shows_that_the_write_was_shown(stream: Stream) -> None:
    stream.wrote(120, LATER, LATER)
    stream.wrote(130, LATER + SECOND, LATER)
    stream.saw(shown(at(125), deleted=True))
    assert stream.is_fresh(LATER)
    assert not stream.is_fresh(LATER + 2 * SECOND)


def test_a_reply_that_comes_after_its_echo_counts_as_well(stream: Stream) -> None:
    stream.saw(shown(at(130)))
    stream.wrote(120, LATER, LATER)
    assert stream.is_fresh(LATER)


def test_a_list_shows_own_writes_too(stream: Stream) -> None:
    stream.wrote(120, LATER, LATER)
    stream.saw(Relisted(PODS, Listing((), "121")))
    assert stream.is_fresh(LATER)


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
def test_an_own_eviction_that_it_shows_makes_it_fresh(stream: Stream, *, deleted: bool) -> None:
    pod = leaving(SECOND / 2)
    stream.evicted(pod.uid, LATER)
    stream.saw(shown(pod, deleted=deleted))
    assert stream.is_fresh(LATER + FRESH_FOR)


def test_a_pod_that_somebody_else_told_to_go_before_is_no_sign_of_it(stream: Stream) -> None:
    pod = leaving(3 * SECOND)
    stream.evicted(pod.uid, LATER)
    stream.saw(shown(pod))
    assert not stream.is_fresh(LATER)


def test_an_eviction_that_was_refused_is_no_sign_either(stream: Stream) -> None:
    pod = leaving()
    stream.evicted(pod.uid, LATER)
    stream.withdrawn(pod.uid)
    stream.saw(shown(pod))
    assert not stream.is_fresh(LATER)


def test_a_pod_that_is_gone_without_a_word_counts_as_evicted(stream: Stream) -> None:
    """Its last state in the selection may be from before it was told to go."""
    pod = builders.pod("web-0", revision=120)
    stream.evicted(pod.uid, LATER)
    stream.saw(shown(pod, deleted=True))
    assert stream.is_fresh(LATER)


def test_a_watch_lags_that_has_not_shown_a_write_two_seconds_after_it_was_accepted(
    stream: Stream,
) -> None:
    stream.wrote(120, LATER, LATER + SECOND)
    assert not stream.has_to_be_listed(LATER + SECOND + LAGS_AFTER)
    assert stream.has_to_be_listed(LATER + 2 * SECOND + LAGS_AFTER)


def test_it_lags_no_more_when_it_has_shown_it(stream: Stream) -> None:
    stream.wrote(120, LATER, LATER)
    assert stream.has_to_be_listed(LATER + 2 * LAGS_AFTER)
    stream.saw(shown(at(120)))
    assert not stream.has_to_be_listed(LATER + 2 * LIST_AGAIN_AFTER)


def test_a_list_beside_it_is_as_fresh_as_when_it_was_asked_for(stream: Stream) -> None:
    stream.wrote(120, LATER, LATER)
    asked_at = LATER + 2 * LAGS_AFTER
    assert stream.has_to_be_listed(asked_at)
    stream.listed(Listing((), "130"), asked_at)
    assert stream.is_fresh(asked_at + FRESH_FOR)


def test_it_is_listed_every_ten_seconds_at_most_while_it_lags_or_is_refused(
    stream: Stream,
) -> None:
    stream.wrote(120, LATER, LATER)
    stream.is_refused = True
    at_first = LATER + 2 * LAGS_AFTER
    assert stream.has_to_be_listed(at_first)
    assert not stream.has_to_be_listed(at_first + LIST_AGAIN_AFTER - SECOND)
    assert stream.has_to_be_listed(at_first + LIST_AGAIN_AFTER)


def test_a_selection_is_listed_after_thirty_seconds_in_which_its_watch_shows_nothing(
    stream: Stream,
) -> None:
    """Where what is between has forgotten the connection, nothing tells so."""
    assert not stream.has_to_be_listed(NOW + SILENT_AFTER - SECOND)
    stream.saw(shown(at(120)))
    again = NOW + SILENT_AFTER
    assert not stream.has_to_be_listed(again)
    assert not stream.has_to_be_listed(again + SILENT_AFTER - SECOND)
    assert stream.has_to_be_listed(again + SILENT_AFTER)
    assert not stream.has_to_be_listed(again + 2 * SILENT_AFTER - SECOND)
    assert stream.has_to_be_listed(again + 2 * SILENT_AFTER)


def test_a_refused_watch_shows_nothing_until_it_goes_on(stream: Stream) -> None:
    stream.is_refused = True
    stream.listed(Listing((), "130"), LATER)
    assert not stream.shows
    stream.saw(shown(at(140)))
    assert stream.shows


def test_a_list_of_one_workload_says_nothing_of_another() -> None:
    listed, other = builders.replica_set("web"), builders.replica_set("api")
    view = View()
    view.replace_workload(listed.key, Listed(controller=listed, revision=100), NOW)
    nothing_shown = frozenset[PodLabel]()

    assert view.is_fresh(listed.key, nothing_shown, NOW + FRESH_FOR)
    assert not view.is_fresh(listed.key, nothing_shown, NOW + 1.01 * FRESH_FOR)
    assert not view.is_fresh(other.key, nothing_shown, NOW)
