"""A sample that is given anew names times that are as far from it as before."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenkeel_sandbox.events import Arriving, Place, freshened, read_event

EVENTS = Path(__file__).parents[3] / "events"
NOW = datetime(2027, 2, 28, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize("file", sorted(EVENTS.glob("*.json")), ids=lambda file: file.stem)
def test_a_sample_leaves_as_much_time_whenever_it_is_given(file: Path) -> None:
    event = json.loads(file.read_text())
    arriving = Arriving(Place(file.name, 1, 1), event, read_event(event))

    anew = freshened(arriving, NOW)

    assert len(anew.notices) == len(arriving.notices)
    for before, after in zip(arriving.notices, anew.notices, strict=True):
        assert after.time == NOW
        lead = after.deadline - after.time
        assert lead == before.deadline - before.time, "its kind's times may lack a field"
        if before.ends_at is not None:
            assert after.ends_at == NOW + (before.ends_at - before.time)
    assert arriving.event == json.loads(file.read_text())


def test_a_time_in_another_zone_is_moved_as_it_is_meant() -> None:
    event = json.loads((EVENTS / "capacity-reservation-interruption.json").read_text())
    event["time"] = "2026-11-21T08:00:00+02:00"
    arriving = Arriving(Place("x", 1, 1), event, read_event(event))
    (notice,) = freshened(arriving, NOW).notices
    assert notice.deadline == NOW + timedelta(minutes=2)
