"""How the time to full capacity grows, and with what."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.storm.figures import Outcome

WANTED: Final = 1.3


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One storm. ``fill``: its cluster's own seconds for all of the storm's ``total`` pods.

    ``doomed`` nodes had ``pods`` on them; ``bystanders`` are pods that it did not concern.
    """

    doomed: int
    pods: int
    total: int
    nodes: int
    bystanders: int
    fill: float
    outcome: Outcome

    @property
    def ratio(self) -> float | None:
        """The time to full capacity in fills of its cluster; None: it never was."""
        return None if self.outcome.whole is None else self.outcome.whole / self.fill

    @property
    def per_pod(self) -> float | None:
        """The same per pod on doomed nodes: in the time that the cluster takes for one."""
        return None if self.ratio is None else self.ratio * self.total / self.pods


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The storms of one run, in their order: in one cluster, and in one with bystanders."""

    conditions: Conditions
    worker: str
    points: Sequence[Point]
    wanted: float = WANTED

    @property
    def linear(self) -> float | None:
        """How much more a pod takes with the most nodes doomed than with the fewest."""
        alone = sorted(self._with(bystanders=False), key=lambda each: each.doomed)
        return _quotient(alone[-1].per_pod, alone[0].per_pod)

    @property
    def independent(self) -> float | None:
        """How much longer it takes beside bystanders than without."""
        (beside,) = self._with(bystanders=True)
        (same,) = (each for each in self._with(bystanders=False) if each.doomed == beside.doomed)
        return _quotient(beside.ratio, same.ratio)

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        return [
            f"{name}: {'never' if ratio is None else f'{ratio:.2f}'}, wanted at most {WANTED}"
            for name, ratio in (
                ("per pod, most doomed nodes to fewest", self.linear),
                ("beside bystanders to without", self.independent),
            )
            if ratio is None or ratio > WANTED
        ]

    def _with(self, *, bystanders: bool) -> Iterator[Point]:
        return (each for each in self.points if (each.bystanders > 0) is bystanders)


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """One storm on simulated time, and the CPU ``seconds`` inside Evenkeel's functions."""

    doomed: int
    pods: int
    seconds: float

    @property
    def per_pod(self) -> float:
        """Milliseconds of CPU."""
        return 1000 * self.seconds / self.pods


class Functions(msgspec.Struct, frozen=True, kw_only=True):
    """The storms of one run, from the fewest doomed nodes to the most."""

    conditions: Conditions
    points: Sequence[Inside]
    wanted: float = WANTED

    @property
    def linear(self) -> float:
        """How much more a pod takes with the most nodes doomed than with the fewest."""
        return self.points[-1].per_pod / self.points[0].per_pod

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        told = f"CPU per pod, most doomed nodes to fewest: {self.linear:.2f}, wanted at most"
        return [f"{told} {self.wanted}"] if self.linear > self.wanted else []


class Fed(Inside, frozen=True, kw_only=True):
    """What a storm of this size takes without requests; ``megabytes`` is the most memory."""

    megabytes: float


class Feeding(Functions, frozen=True, kw_only=True):
    """The sizes of one run, from the fewest doomed nodes to the most."""

    points: Sequence[Fed]
    most_megabytes: float = 1_000

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        most = max(each.megabytes for each in self.points)
        told = f"memory: {most:.0f} MB, wanted at most {self.most_megabytes:.0f}"
        return [*super().missed, *([told] if most > self.most_megabytes else [])]


def _quotient(over: float | None, under: float | None) -> float | None:
    return None if over is None or under is None else over / under
