"""Times and durations that others wrote, and times for people."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

import msgspec

YEARS: Final = range(2000, 2200)
"""Years in which a time is in range: adding to datetime's last year overflows."""

LONGEST: Final = timedelta(days=36_500)
"""A longer span is cut to this, which can be added to any sane time."""


def span(seconds: int) -> timedelta:
    """So many seconds, at most ``LONGEST`` either way.

    The API server stores some numbers of 64 bits, and a timedelta holds fewer seconds than that.
    """
    most = int(LONGEST.total_seconds())
    return timedelta(seconds=max(-most, min(seconds, most)))


def is_sound(time: datetime) -> bool:
    """Whether a time can be compared with others and added to: it has a zone and a sane year."""
    return time.tzinfo is not None and time.year in YEARS


def sound_time(text: str | None) -> datetime | None:
    """The time in a text that others wrote (RFC 3339); None if it is none, or not sound."""
    try:
        time = msgspec.convert(text, type=datetime)
    except msgspec.ValidationError:
        return None
    return time if is_sound(time) else None


def to_micro_time(time: datetime) -> str:
    """A time as Leases have it: RFC 3339 in UTC, to the microsecond."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def in_words(time: datetime) -> str:
    """A time as people and logs read it: RFC 3339 in UTC, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def earliest(*times: datetime | None) -> datetime | None:
    """The earliest of the times that are set."""
    return min((time for time in times if time is not None), default=None)


def next_due(now: datetime, *times: datetime | None) -> datetime | None:
    """The earliest of the times that are set and still to come.

    A time that has passed changes nothing any more: a wait for it would never wait.
    """
    return earliest(*(time for time in times if time is not None and time > now))


# Durations as Go writes them.

MOST_CHARACTERS: Final = 100
LONGEST_GO: Final = 2**63 - 1
"""Go counts durations in nanoseconds, in 64 bits: some 292 years."""

_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
"""Nanoseconds. Go takes both signs for micro."""

_PART: Final = rf"([0-9]+\.?[0-9]*|\.[0-9]+)({'|'.join(_UNITS)})"
_WHOLE: Final = re.compile(rf"\+?(?:{_PART})+")


def go_duration(text: str) -> timedelta | None:
    """What ``1h30m`` or ``1.5h`` means, as Go's time.ParseDuration reads it.

    None where Go refuses it, and for a negative one. Parts of a microsecond are cut off.
    https://pkg.go.dev/time#ParseDuration
    """
    if len(text) > MOST_CHARACTERS:
        return None
    if text in ("0", "+0"):
        return timedelta()
    if not _WHOLE.fullmatch(text):
        return None
    total = sum(Decimal(amount) * _UNITS[unit] for amount, unit in re.findall(_PART, text))
    return timedelta(microseconds=int(total) // 1000) if total <= LONGEST_GO else None
