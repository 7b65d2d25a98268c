"""Where measurements are kept: one line of JSON for each case and size, in bench/results.jsonl.

A line says of which commit it is, of which day, and on which machine. It stays until the same is
measured again, whatever changes in the product meanwhile: the tables show commit and day with it.
"""

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

    With ``base``, a commit, each round was measured of that one too, in turn: ``against``. Such a
    pair is shown and not kept.
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
        """Keep a measurement in the place of the one before of the same case and size."""
        key = (new.case, new.size)
        kept = [each for each in self._kept if (each.case, each.size) != key]
        self._kept = [*kept, new]
        self._file.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in self._kept))

    def __iter__(self) -> Iterator[Measurement]:
        """All that is kept."""
        return iter(self._kept)

    def of(self, case: str) -> Iterator[Measurement]:
        """A case's measurements."""
        return (each for each in self if each.case == case)

    def find(self, case: str, size: str) -> Measurement | None:
        """A case's measurement in one size; None if there is none."""
        return next((each for each in self.of(case) if each.size == size), None)
