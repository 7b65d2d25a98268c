"""Where workloads stand, as a table."""

from collections.abc import Sequence
from typing import Final

from evenkeel.decisions.floor.standing import Remark, Standing
from evenkeel.model import names
from evenkeel.model.template import is_by_template
from evenkeel_cli import words
from evenkeel_cli.status.gather import Found
from evenkeel_cli.status.remarks import remarks
from evenkeel_cli.tables import Cell, Column, Table

COLUMNS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="replicas", title="REPLICAS", right=True),
    Column(key="floor", title="FLOOR"),
    Column(key="source", title="FROM", wide=True),
    Column(key="managed", title="MANAGED", wide=True),
    Column(key="placement", title="PLACED BY", wide=True),
    Column(key="onDemand", title="ON-DEMAND", right=True),
    Column(key="spot", title="SPOT", right=True),
    Column(key="waiting", title="WAITING", right=True, wide=True),
    Column(key="released", title="MOVING", right=True, wide=True),
    Column(key="survivors", title="SURVIVE", right=True),
    Column(key="status", title="STATUS", wraps=True),
)


def table(found: Found) -> Table:
    """One row per workload."""
    return Table(COLUMNS, [_row(each, _remarks(found, each)) for each in found.standings])


def remedies(found: Found) -> Sequence[str]:
    """What to do, one line per workload of which replicas are at risk."""
    return [
        f"{words.workload_name(each.workload.reference)}: {remark.message}"
        for each in found.standings
        for remark in _remarks(found, each)
        if remark.warning
    ]


def evictions(found: Found) -> Sequence[str]:
    """Who waits for what, one line per eviction that waits at the gate."""
    return [
        f"{words.workload_name(standing.workload.reference)}: {eviction.message}{_why(standing)}"
        for standing in found.standings
        for eviction in standing.evictions
    ]


def _why(standing: Standing) -> str:
    """Why a workload's pods wait for a node, in parentheses."""
    return f" ({standing.why_waiting.rstrip('.')})" if standing.why_waiting else ""


def _remarks(found: Found, standing: Standing) -> Sequence[Remark]:
    return remarks(standing, found.restores.get(standing.workload.reference))


def _row(standing: Standing, told: Sequence[Remark]) -> Sequence[Cell]:
    floor = standing.floor.floor
    wanted = f"{standing.wanted}" if str(floor) == f"{standing.wanted}" else ""
    status = [
        {"reason": each.reason, "message": each.message, "warning": each.warning} for each in told
    ]
    is_short = bool(standing.missing)
    return (
        Cell(words.workload_name(standing.workload.reference)),
        _number(standing.replicas),
        Cell(
            wanted or f"{standing.wanted} ({floor})",
            value={"policy": str(floor), "replicas": standing.wanted},
        ),
        Cell(standing.floor.source.value),
        Cell("yes" if standing.is_managed else "no", value=standing.is_managed),
        Cell(names.BY_TEMPLATE if is_by_template(standing.workload) else "webhook"),
        _number(standing.on_demand, "red" if is_short else ""),
        _number(standing.spot),
        _number(standing.waiting),
        _number(standing.released),
        _number(standing.survivors, "red" if standing.survivors < standing.wanted else ""),
        Cell(
            ", ".join(each.brief for each in told) or "as wanted",
            "yellow" if any(each.warning for each in told) else "",
            value=status,
        ),
    )


def _number(number: int, style: str = "") -> Cell:
    return Cell(str(number), style, value=number)
