"""The labels and annotations that people set."""

from collections import Counter
from datetime import timedelta

import pytest

from evenkeel.model import annotations, names
from evenkeel.model.annotations import OWNERS, OwnersEntry, Place
from evenkeel.model.floor import Floor, Unit
from evenkeel.model.pool import AtMost


def test_every_key_has_a_name() -> None:
    assert {entry.key for entry in OWNERS} <= names.KNOWN


def test_a_key_means_one_thing_in_one_place_on_one_kind() -> None:
    met = Counter((e.key, e.place, kind) for e in OWNERS for kind in e.on)

    assert [each for each, times in met.items() if times > 1] == []


def test_every_meaning_is_a_sentence() -> None:
    assert [e.key for e in OWNERS if not e.meaning.endswith(".")] == []


@pytest.mark.parametrize(
    ("entry", "text", "meant"),
    [
        (annotations.HANDOVER, "Never", "never"),
        (annotations.HANDOVER, "no", None),
        (annotations.HANDOVER, "", None),
        (annotations.AT_DEADLINE, "leave", "leave"),
        (annotations.AT_DEADLINE, "keep", None),
        (annotations.UNGATED, "False", "false"),
        (annotations.GATE_PATIENCE, "15m", timedelta(minutes=15)),
        (annotations.GATE_PATIENCE, "soon", None),
        (annotations.GANG, "yes", None),
        (annotations.GANG_AT_NOTICE, "dying", "dying"),
        (annotations.PLACEMENT, "webhook", None),
        (annotations.ON_DEMAND, "2", Floor(Unit.REPLICAS, 2)),
        (annotations.ON_DEMAND, "half", None),
        (annotations.ONE_POOL_AT_MOST, "30%", AtMost(30, is_percentage=True)),
        (annotations.ONE_POOL_AT_MOST, "0", None),
    ],
)
def test_a_value_means_what_its_entry_reads(
    entry: OwnersEntry[object], text: str, meant: object
) -> None:
    assert entry.of({entry.key: text}) == meant


@pytest.mark.parametrize("entry", [e for e in OWNERS if e.place is Place.LABEL])
def test_labels_are_read_as_exactly_as_selectors_read_them(entry: OwnersEntry[object]) -> None:
    value = "singles" if entry is annotations.HEADROOM else "true"
    assert entry.of({entry.key: value}) == value
    assert entry.of({entry.key: value.title()}) is None


def test_what_is_not_there_says_nothing() -> None:
    assert annotations.MANAGED.of({}) is None
    assert annotations.MANAGED.of(None) is None
