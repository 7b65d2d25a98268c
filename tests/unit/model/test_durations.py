"""Durations as Go reads them."""

from datetime import timedelta

import pytest

from evenkeel.model.times import go_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("4h", 14_400),
        ("1h30m", 5_400),
        ("1.5h", 5_400),
        ("+1.5h", 5_400),
        (".5s", 0.5),
        ("5.s", 5),
        ("1m1m", 120),
        ("1h15m30.918273645s", 4530.918273),
        ("100ms", 0.1),
        ("250us", 0.00025),
        ("250\u00b5s", 0.00025),
        ("250\u03bcs", 0.00025),
        ("1ns", 0),
        ("0", 0),
        ("+0", 0),
        ("0s", 0),
        ("2562047h", 9_223_369_200),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert go_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        *("", "4", "h", "4 h", "4H", " 4h", "4h ", "4h30", "1d", "-4h", "--1h", ".s", "1e3s"),
        *("1,5h", "true", "2562048h", "\u0664h", "9" * 101 + "ns", "1m" * 51, "4h\n"),
    ],
)
def test_what_go_refuses_or_is_negative_is_none(text: str) -> None:
    assert go_duration(text) is None
