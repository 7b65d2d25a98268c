"""Notes: annotations that hold JSON, which anybody who may annotate can have written."""

from datetime import UTC, datetime

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.move import Restored
from evenkeel.model.notes import Note
from evenkeel.model.notice import NodeNotice
from evenkeel.model.placement import Placed, Relaxation
from evenkeel.model.quota_note import QuotaNote
from evenkeel.model.release import Asked, Cooldown, Release
from evenkeel.model.template import Written
from tests.kit import builders

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
KINDS = (
    Asked,
    Cooldown,
    NodeNotice,
    Placed,
    QuotaNote,
    Relaxation,
    Release,
    Restored,
    Written,
)
RELAXED = Relaxation(until=NOW)


def test_each_kind_of_note_has_an_annotation_of_its_own_that_objects_are_read_with() -> None:
    keys = [kind.key for kind in KINDS]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= names.KNOWN


def test_a_note_is_read_as_it_was_written() -> None:
    annotations = {names.FLOOR_RELAXED: RELAXED.encode()}
    assert Relaxation.of(builders.deployment(annotations=annotations)) == RELAXED
    assert Relaxation.of(builders.deployment()) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [None, "", "no JSON", "[]", "{}", '{"until": "soon"}'])
def test_what_is_none_of_its_kind_is_no_note(kind: type[Note], text: str | None) -> None:
    assert kind.read(text) is None


@pytest.mark.parametrize("until", ["2026-11-21T06:00:00", "9999-11-21T06:00:00Z"])
def test_a_time_without_a_zone_or_out_of_range_is_no_note(until: str) -> None:
    assert Relaxation.read(f'{{"until": "{until}"}}') is None


def test_a_placed_pod_counts_whatever_time_it_bears() -> None:
    found = Placed.read('{"v": 1, "as": "on-demand", "at": "9999-11-21T06:00:00Z"}')
    assert found is not None
    assert found.as_ is Capacity.ON_DEMAND
