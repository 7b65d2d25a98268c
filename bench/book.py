"""Where measurements are kept: one line of JSON for each case and size, in bench/results.jsonl."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.figure import Figure, middle

ROOT: Final = Path(__file__).resolve().parents[1]
BOOK: Final = ROOT / "bench" / "results.jsonl"
LOGS: Final = ROOT / "bench" / "logs"

type Rounds = Sequence[Sequence[Figure]]


class Measurement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case in one size, in one or several ``rounds``.

    With ``base``, a commit, each round was measured of that one too, in turn: ``against``.
    """

    case: str
    size: str
    conditions: Conditions
    rounds: Rounds
    base: str = ""
    against: Rounds = ()

    def figures(self) -> Sequence[Figure]:
        """The first round's, each with the median of all rounds; the worst where one has a mark.

        Of curves it is the one that goes lowest.
        """
        return [combined(each, self.rounds) for each in self.rounds[0]]

    def value(self, name: str, of: str = "") -> float | None:
        """A figure's median, or the worst. Raises KeyError if there is no figure of this name."""
        for each in self.figures():
            if each.key == (name, of):
                assert not isinstance(each.value, Sequence), f"{name} is a curve"
                return each.value
        raise KeyError(f"{self.case} {self.size} has no figure {name!r} of {of!r}")


def values(figure: Figure, rounds: Rounds) -> Sequence[float | None]:
    """What each round has for a figure; rounds that lack it are left out."""
    found = [each.value for one in rounds for each in one if each.key == figure.key]
    return [value for value in found if not isinstance(value, Sequence)]


def combined(figure: Figure, rounds: Rounds) -> Figure:
    """A figure of several rounds as one."""
    if isinstance(figure.value, Sequence):
        curves = [each.value for one in rounds for each in one if each.key == figure.key]
        worst = min((each for each in curves if isinstance(each, Sequence)), key=min)
        return msgspec.structs.replace(figure, value=worst)
    found = values(figure, rounds)
    value = middle(found) if figure.mark is None else figure.mark.worst(found)
    return msgspec.structs.replace(figure, value=value)


class Book:
    """The measurements that are kept, by case and size in the order of the file."""

    def __init__(self, file: Path = BOOK) -> None:
        """Read a file; one that is not there is empty."""
        self._file = file
        lines = file.read_bytes().splitlines() if file.exists() else ()
        self._kept = [msgspec.json.decode(line, type=Measurement) for line in lines]

    def keep(self, new: Measurement) -> None:
        """Keep a measurement, and strike what it replaces.

        That is the same case and size, with another commit beside it or without.
        """
        key = (new.case, new.size, bool(new.base))
        kept = [each for each in self._kept if (each.case, each.size, bool(each.base)) != key]
        self._write([*kept, new])

    def strike(self) -> None:
        """Strike what was measured of other product code than the last measurement's."""
        if self._kept:
            product = self._kept[-1].conditions.product
            self._write([each for each in self._kept if each.conditions.product == product])

    def of(self, case: str) -> Iterator[Measurement]:
        """A case's measurements, without those against another commit."""
        return (each for each in self._kept if each.case == case and not each.base)

    def find(self, case: str, size: str) -> Measurement | None:
        """A case's measurement in one size; None if there is none."""
        return next((each for each in self.of(case) if each.size == size), None)

    def _write(self, kept: list[Measurement]) -> None:
        self._kept = kept
        self._file.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
