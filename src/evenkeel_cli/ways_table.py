"""How each workload's pods on doomed nodes would go, and why, as a table."""

from collections import Counter
from collections.abc import Collection, Container
from typing import Final

from evenkeel.decisions.drain.route import Way
from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.ways import Situation

COLUMNS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="pods", title="PODS", right=True),
    Column(key="way", title="HOW"),
    Column(key="why", title="WHY", wraps=True),
    Column(key="remedy", title="WHAT WOULD CHANGE IT", wide=True, wraps=True),
)


def table(situations: Collection[Situation], *, hinted: Container[str]) -> Table:
    """A row for each workload and way; the nodes ``hinted`` may live on, the others die."""
    counts: Counter[tuple[Reference, Way, str, str]] = Counter()
    for situation in situations:
        way = situation.way(hint=situation.pod.spec.node_name in hinted)
        counts[situation.workload, way.way, way.message, way.remedy] += 1
    ordered = sorted(counts.items(), key=lambda item: words.workload_name(item[0][0]))
    return Table(
        COLUMNS,
        [
            (
                Cell(words.workload_name(workload)),
                Cell(str(count), value=count),
                Cell(words.WAYS[way], "green" if way in (Way.HANDOVER, Way.LEAVE) else "yellow"),
                Cell(message),
                Cell(remedy),
            )
            for (workload, way, message, remedy), count in ordered
        ],
    )
