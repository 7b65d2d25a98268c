"""Storms that are written down: when which share of which pool's nodes gets a notice."""

import csv
import random
import re
from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple, Self

from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool
from evenkeel_sandbox.storms.shapes import Pools, Strike

COLUMNS: Final = ("time", "pool", "kind", "share")
KINDS: Final = {
    "warning": NoticeKind.INTERRUPTION,
    "recommendation": NoticeKind.REBALANCE,
}
ANY: Final = "*"
SOME: Final = re.compile(r"pool-([1-9][0-9]{0,2})")
"""A pool that is left to chance: the same number is the same pool in all of a storm's rows."""

SAMPLES: Final = {path.stem: path for path in (Path(__file__).parent / "samples").glob("*.csv")}
"""The traces that are there without a file of one's own, by name."""


class TraceError(ValueError):
    """A trace cannot be read. The message says where, and what is wanted."""


class Row(NamedTuple):
    """A share of a pool's nodes gets a notice, so long after the storm begins.

    ``type`` and ``zone`` of the pool; ``*`` is any. Or ``some`` is the number of one that is left
    to chance, from 1 on.
    """

    after: timedelta
    type: str
    zone: str
    kind: NoticeKind
    share: float
    some: int = 0

    def pools(self, order: Sequence[Pool]) -> Sequence[Pool]:
        """The pools whose nodes get a notice, of all in an order that is left to chance."""
        if self.some:
            return order[self.some - 1 : self.some]
        return sorted(filter(self.is_about, order))

    def is_about(self, pool: Pool) -> bool:
        """Whether nodes of this pool get a notice."""
        return self.type in (ANY, pool.type) and self.zone in (ANY, pool.zone)


class Trace(NamedTuple):
    """A storm as its rows say; which of a pool's nodes it takes is left to chance.

    A node that had a warning gets no further notice. A warning is for nodes with a recommendation
    first.
    """

    rows: tuple[Row, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a CSV file with the columns time, pool, kind and share. Raises TraceError."""
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                read = csv.reader(file)
                lines = [
                    (read.line_num, line) for line in read if line and not line[0].startswith("#")
                ]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise TraceError(f"{path}: cannot be read ({error})") from None
        if not lines or tuple(each.strip() for each in lines[0][1]) != COLUMNS:
            raise TraceError(f"{path}: the first line has to be {','.join(COLUMNS)}")
        rows = tuple(_row(f"{path}, line {number}", line) for number, line in lines[1:])
        if not any(row.kind is NoticeKind.INTERRUPTION for row in rows):
            raise TraceError(f"{path}: has no row of the kind warning")
        return cls(rows)

    def strikes(self, pools: Pools, seed: int) -> Sequence[Strike]:
        """The notices of one storm; none where the cluster has none of these pools."""
        chance = random.Random(seed)
        order = {pool: chance.sample(sorted(nodes), len(nodes)) for pool, nodes in pools.items()}
        turns = chance.sample(sorted(pools), len(pools))
        told: dict[str, NoticeKind] = {}
        made = []
        for row in sorted(self.rows, key=lambda row: row.after):
            for pool in row.pools(turns):
                nodes = sorted(order[pool], key=lambda node: node not in told)
                free = [node for node in nodes if told.get(node) not in _ENDED[row.kind]]
                for node in free[: ceil(round(row.share * len(nodes), 6))]:
                    told[node] = row.kind
                    made.append(Strike(row.after, node, row.kind))
        return made


_ENDED: Final = {
    NoticeKind.INTERRUPTION: (NoticeKind.INTERRUPTION,),
    NoticeKind.REBALANCE: (NoticeKind.INTERRUPTION, NoticeKind.REBALANCE),
}
"""What a node must not have been told before it gets such a notice."""


def _row(where: str, line: Sequence[str]) -> Row:
    if len(line) != len(COLUMNS):
        raise TraceError(f"{where}: has {len(line)} columns, and not {len(COLUMNS)}")
    time, pool, kind, share = (each.strip() for each in line)
    type_, _, zone = pool.partition("/")
    some = SOME.fullmatch(pool)
    if kind not in KINDS:
        raise TraceError(f"{where}: the kind {kind!r} is none of {', '.join(KINDS)}")
    if not type_:
        raise TraceError(f"{where}: the pool is empty: write m6i.xlarge/eu-central-1a, or *")
    return Row(
        timedelta(seconds=_number(where, time, "s", "the time, in seconds", 86_400)),
        type_,
        zone or ANY,
        KINDS[kind],
        _number(where, share, "%", "the share, in percent", 100) / 100,
        int(some[1]) if some else 0,
    )


def _number(where: str, text: str, unit: str, what: str, most: float) -> float:
    try:
        number = float(text.removesuffix(unit))
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise TraceError(f"{where}: {what}, is {text!r}, and not from 0 to {most:g}")
    return number
