"""Measurements that tests make up."""

from collections.abc import Sequence

from bench.book import Measurement
from bench.conditions import Conditions
from bench.figure import Figure

CONDITIONS = Conditions(
    commit="1a2b3c4",
    date="2026-01-05",
    kubernetes="1.36.3",
    cpus=2,
    model="x",
    memory_gib=24,
    system="Linux",
    python="3.13.0",
    load=1.0,
)


def measured(
    *rounds: Sequence[Figure], case: str = "gate", size: str = "50 a second", **more: object
) -> Measurement:
    found = {"conditions": CONDITIONS, **more}
    return Measurement(case=case, size=size, rounds=rounds, **found)  # type: ignore[arg-type]
