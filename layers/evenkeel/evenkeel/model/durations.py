"""Durations as Go writes them."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

MOST_CHARACTERS: Final = 100
LONGEST: Final = 2**63 - 1
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
    return timedelta(microseconds=int(total) // 1000) if total <= LONGEST else None
