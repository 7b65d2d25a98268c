"""Evictions that wait: who asked for them, since when, and what for."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.release import ReleaseReason
from evenkeel_cli.decisions.waiting import waiting
from tests.kit import builders
from tests.kit.builders import NOW

WEB = builders.replica_set(replicas=1)


def note(**fields: object) -> dict[str, str]:
    asked = {"v": 1, "by": "bob", "since": NOW.isoformat()} | fields
    return {names.ASKED: msgspec.json.encode(asked).decode()}


def test_a_released_pod_tells_who_asked_for_its_eviction_and_until_when_that_waits() -> None:
    release = builders.release(
        WEB,
        reason=ReleaseReason.EVICTION,
        since=NOW,
        deadline=NOW + timedelta(minutes=5),
        asked_by="alice",
    )
    found = waiting(builders.pod("a", of=WEB, released=release))
    assert found is not None
    assert found.message == (
        "Pod a: alice asked at 2026-11-21T06:00:00Z to evict it; that passes when its replacement"
        " is available, by 2026-11-21T06:05:00Z if none starts"
    )


def test_a_pod_beyond_the_window_tells_who_asked_for_its_eviction() -> None:
    found = waiting(builders.pod("a", of=WEB, annotations=note()))
    assert found is not None
    assert found.message.startswith("Pod a: bob asked at 2026-11-21T06:00:00Z to evict it;")
    assert found.until is None


@pytest.mark.parametrize(
    "reason", [each for each in ReleaseReason if each is not ReleaseReason.EVICTION]
)
def test_a_pod_that_nobody_wants_to_evict_tells_of_nobody(reason: ReleaseReason) -> None:
    release = builders.release(WEB, reason=reason, since=NOW)
    assert waiting(builders.pod("a", of=WEB, released=release)) is None
    assert waiting(builders.pod("a", of=WEB)) is None


@pytest.mark.parametrize(
    "forged",
    [
        note(since="9999-12-31T23:59:59Z"),
        note(since="once"),
        note(by="x" * 10_000),
        {names.ASKED: "[" * 100_000},
        {names.ASKED: ""},
    ],
    ids=["far future", "no time", "huge", "nesting", "empty"],
)
def test_a_note_that_evenkeel_would_not_write_is_none(forged: dict[str, str]) -> None:
    assert waiting(builders.pod("a", of=WEB, annotations=forged)) is None
