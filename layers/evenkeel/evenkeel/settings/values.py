"""Single values of an environment: read, or refused with what they should look like.

All raise SettingsError.
"""

import math
from collections.abc import Mapping
from datetime import timedelta

from evenkeel.errors import SettingsError


def text(environ: Mapping[str, str], name: str, what: str) -> str:
    """A text that has to be there; ``what`` it should be is told if it is not."""
    value = environ.get(name, "").strip()
    if not value:
        raise SettingsError(f"{name} is not set: it should be {what}")
    return value


def number(environ: Mapping[str, str], name: str, what: str) -> float | None:
    """A finite number; None if it is not set."""
    given = environ.get(name, "").strip()
    if not given:
        return None
    try:
        value = float(given)
    except ValueError:
        raise SettingsError(f"{name} is {given!r}: it should be {what}") from None
    if not math.isfinite(value):
        raise SettingsError(f"{name} is {given!r}: it should be {what}")
    return value


def whole(environ: Mapping[str, str], name: str, *, default: int, lowest: int, highest: int) -> int:
    """A whole number from ``lowest`` to ``highest``."""
    what = f"a whole number from {lowest} to {highest}"
    value = number(environ, name, what)
    if value is None:
        return default
    if value != int(value) or not lowest <= value <= highest:
        raise SettingsError(f"{name} is {environ[name]!r}: it should be {what}")
    return int(value)


def share(environ: Mapping[str, str], name: str, *, default: float) -> float:
    """A share from 0 to 1."""
    what = "a share from 0 to 1, such as 0.1"
    value = number(environ, name, what)
    if value is None:
        return default
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} is {environ[name]!r}: it should be {what}")
    return value


def seconds(
    environ: Mapping[str, str],
    name: str,
    default: timedelta,
    lowest: timedelta,
    highest: timedelta,
) -> timedelta:
    """A span in seconds, from ``lowest`` to ``highest``."""
    low, high = lowest.total_seconds(), highest.total_seconds()
    what = f"a number of seconds from {low:g} to {high:g}"
    value = number(environ, name, what)
    if value is None:
        return default
    if not low <= value <= high:
        raise SettingsError(f"{name} is {environ[name]!r}: it should be {what}")
    return timedelta(seconds=value)


def one_of(environ: Mapping[str, str], name: str, default: str, other: str) -> str:
    """One of two words, in lower case."""
    value = environ.get(name, "").strip().lower() or default
    if value not in (default, other):
        raise SettingsError(f"{name} is {environ[name]!r}: it should be {default} or {other}")
    return value


def switch(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    """True or false."""
    words = ("true", "false") if default else ("false", "true")
    return one_of(environ, name, *words) == "true"
