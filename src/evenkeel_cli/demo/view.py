"""The live picture of the demo: nodes, workloads, and what was decided last."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenkeel.decisions.notice import mark
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.node import Node
from evenkeel_cli import lines, words
from evenkeel_cli.nodes.listing import style_of
from evenkeel_cli.simulation import ReportedSimulation
from evenkeel_sandbox.observer.health import Health

CELL: Final = 7
LABEL: Final = 10
BAR: Final = 8
LEGEND: Final = "seconds until a node dies; hint: a rebalance recommendation; -: nothing known"
FIXED_ROWS: Final = 4
"""Lines that are neither nodes nor workloads nor decisions."""


class View:
    """Paints a simulation. ``nodes`` are all that there were at first, in a fixed order."""

    def __init__(
        self, simulation: ReportedSimulation, nodes: Sequence[Node], console: Console
    ) -> None:
        """Paint for this console's size."""
        self._simulation = simulation
        labels = WELL_KNOWN
        self._pools: dict[str, list[Node]] = {
            capacity: [node for node in nodes if labels.of(node) is capacity]
            for capacity in (Capacity.SPOT, Capacity.ON_DEMAND)
        }
        self._console = console

    def picture(self, headline: str) -> RenderableType:
        """The cluster as it is now."""
        nodes = self._nodes()
        workloads = self._workloads()
        room = self._console.height - nodes.row_count - workloads.row_count - FIXED_ROWS
        return Group(
            Text(headline, "bold"),
            Text(LEGEND, "dim"),
            nodes,
            Text(""),
            workloads,
            Text(""),
            *self._last_decisions(max(0, room)),
        )

    def _nodes(self) -> Table:
        per_row = max(1, (min(self._console.width, 120) - LABEL) // CELL)
        grid = Table.grid(padding=0)
        grid.add_column(width=LABEL)
        grid.add_column(no_wrap=True)
        now = self._simulation.clock.now()
        for label, nodes in self._pools.items():
            for start in range(0, len(nodes), per_row):
                cells = [self._cell(node, now) for node in nodes[start : start + per_row]]
                grid.add_row(label if start == 0 else "", Text.assemble(*cells))
        return grid

    def _cell(self, node: Node, now: datetime) -> tuple[str, str]:
        """One node: the seconds that are left to it, or how it is."""
        name = node.name
        current = self._simulation.observer.nodes.get(name)
        if current is None or name in self._simulation.ec2.lost_nodes:
            return f"{'gone':^{CELL}}", "dim red"
        notice = mark.read(current)
        if notice is None:
            return f"{'-':^{CELL}}", "green"
        seconds = round((notice.deadline - now).total_seconds())
        text = "hint" if notice.is_hint else f"{max(0, seconds)}s"
        return f"{text:^{CELL}}", style_of(seconds, hint=notice.is_hint)

    def _workloads(self) -> Table:
        """All workloads in two columns, so that they fit beside the nodes in 24 lines."""
        known = self._simulation.observer.workloads.values()
        shown = sorted(known, key=lambda health: words.workload_name(health.workload))
        half = (len(shown) + 1) // 2
        grid = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(2):
            grid.add_column(no_wrap=True)
            grid.add_column(justify="right", no_wrap=True)
            grid.add_column(no_wrap=True)
        for i in range(half):
            left = _workload(shown[i])
            right = _workload(shown[i + half]) if i + half < len(shown) else ()
            grid.add_row(*left, *right)
        return grid

    def _last_decisions(self, count: int) -> list[Text]:
        simulation = self._simulation
        entries = simulation.journal.entries[-count:] if count else []
        found = [
            lines.of_decision(entry.decision, entry.at - simulation.started).flat()
            for entry in entries
        ]
        for text in found:
            text.truncate(self._console.width - 1, overflow="ellipsis")
        return found


def _workload(health: Health) -> tuple[Text, Text, Text]:
    """Its name, how many of its pods are ready, and the same as a bar."""
    name = Text(f"{health.workload.namespace}/{health.workload.name}")
    if health.gone:
        return name, Text("done" if health.workload.kind == "Job" else "gone", "dim"), Text("")
    wanted = health.before if health.wanted is None else health.wanted
    share = min(1.0, health.ready / wanted) if wanted else 1.0
    full = round(BAR * share)
    style = "green" if share == 1 else "bold red" if health.ready == 0 else "yellow"
    return (
        name,
        Text(f"{health.ready}/{wanted}", style),
        Text("#" * full + "." * (BAR - full), style),
    )
