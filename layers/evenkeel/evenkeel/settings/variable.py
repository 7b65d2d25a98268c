"""One variable of the environment: what it means, what it should look like, how it is read.

docs/reference/settings.md lists all of them, and ``tools/write-reference`` writes it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any, Self

from evenkeel.errors import SettingsError


class Variable[T](str):
    """The name of a variable, with what goes with it.

    ``meaning`` is one sentence for people, ``shape`` what a value should look like. ``default`` is
    the text that counts where the variable is not set; None: it has to be set. ``parse`` makes a
    value of a text, and raises ValueError where it is malformed. A ``secret`` one is in no error.
    """

    __slots__ = ("default", "meaning", "parse", "secret", "shape")

    meaning: str
    shape: str
    parse: Callable[[str], T]
    default: str | None
    secret: bool

    def __new__(
        cls,
        name: str,
        meaning: str,
        shape: str,
        parse: Callable[[str], T],
        default: str | None = None,
        *,
        secret: bool = False,
    ) -> "Variable[T]":
        """A variable of this name."""
        made = super().__new__(cls, name)
        made.meaning = meaning
        made.shape = shape
        made.parse = parse
        made.default = default
        made.secret = secret
        return made

    def read(self, environ: Mapping[str, str]) -> T:
        """Its value. Raises SettingsError, which says what it should be."""
        given = environ.get(self, "").strip() or self.default
        if given is None:
            raise SettingsError(f"{self} is not set: it should be {self.shape}")
        try:
            return self.parse(given)
        except ValueError:
            what = "malformed" if self.secret else repr(given)
            raise SettingsError(f"{self} is {what}: it should be {self.shape}") from None

    @property
    def usual(self) -> T:
        """Its value where it is not set."""
        return self.read({})


class Settings:
    """Settings of a function: a frozen dataclass, whose fields may be annotated with variables."""

    __slots__ = ()

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Give each field that is annotated with a variable its value. Raises SettingsError."""
        return cls(**{name: each.read(environ) for name, each in variables(cls).items()})


def variables(settings: type) -> dict[str, Variable[Any]]:
    """The variables of a class of settings, by the names of its fields."""
    return {
        field.name: each
        for field in fields(settings)
        for each in getattr(field.type, "__metadata__", ())
    }


def text(
    name: str,
    meaning: str,
    shape: str,
    default: str | None = None,
    *,
    such: Callable[[str], object] = bool,
) -> Variable[str]:
    """A text; one that is set has to be ``such``."""

    def parse(given: str) -> str:
        if given != default and not such(given):
            raise ValueError(given)
        return given

    return Variable(name, meaning, shape, parse, default)


def whole(name: str, meaning: str, default: int, *, lowest: int, highest: int) -> Variable[int]:
    """A whole number from ``lowest`` to ``highest``."""

    def parse(given: str) -> int:
        value = _number(given, lowest, highest)
        if value != int(value):
            raise ValueError(given)
        return int(value)

    return Variable(
        name, meaning, f"a whole number from {lowest} to {highest}", parse, str(default)
    )


def share(name: str, meaning: str, default: float) -> Variable[float]:
    """A share from 0 to 1."""
    shape = "a share from 0 to 1, such as 0.1"
    return Variable(name, meaning, shape, lambda given: _number(given, 0, 1), f"{default:g}")


def seconds(
    name: str, meaning: str, default: float, *, lowest: float, highest: float
) -> Variable[timedelta]:
    """A span in seconds, from ``lowest`` to ``highest``."""

    def parse(given: str) -> timedelta:
        return timedelta(seconds=_number(given, lowest, highest))

    shape = f"a number of seconds from {lowest:g} to {highest:g}"
    return Variable(name, meaning, shape, parse, f"{default:g}")


def one_of(name: str, meaning: str, default: str, other: str, *, yes: str) -> Variable[bool]:
    """One of two words, in either case; whether it is ``yes``."""

    def parse(given: str) -> bool:
        if given.lower() not in (default, other):
            raise ValueError(given)
        return given.lower() == yes

    return Variable(name, meaning, f"{default} or {other}", parse, default)


def _number(given: str, lowest: float, highest: float) -> float:
    """A finite number within bounds. Raises ValueError."""
    value = float(given)
    if not math.isfinite(value) or not lowest <= value <= highest:
        raise ValueError(given)
    return value
