"""How one workload stood by each option, as a table."""

from collections.abc import Sequence

from bench.conditions import together
from bench.options.results import Compared, Row, Stood
from bench.report.markdown import markdown


def table(compared: Compared) -> str:
    """Markdown: a row for each option, a column for each situation, and how to read a cell."""
    first = compared.rows[0]
    columns = ("option", *(each.situation for each in first.stood), "rollouts caused", "objects")
    reading = (
        "A cell is how many are Ready on on-demand in the end, bold where that is exact; the fewest"
        " Ready there meanwhile; and how many pods are left Pending, if any are. Objects: how many"
        " an owner writes for one workload."
    )
    wanted = "; ".join(f"{each.situation} {each.wanted} of {each.replicas}" for each in first.stood)
    moved = "; ".join(
        f"{row.title} from {stood.before} to {stood.on_demand} on on-demand, {stood.moved} pods"
        " replaced"
        for row in compared.rows
        for stood in row.stood
        if stood.moved is not None
    )
    measured = (
        f"{compared.spot} spot and {compared.on_demand} on-demand nodes, each with room for all"
        " pods. Pods take 2 s to start. Of three times that it was scaled in the worst counts."
        " Spot nodes go at once without a notice. A situation is over when all pods are Ready, or"
        " after 45 s, without spot after 110 s."
        f" {together(row.conditions for row in compared.rows)}."
    )
    restored = f"`evenkeel restore --apply` ran when spot was back, and only then: {moved}."
    notes = (reading, f"Wanted on on-demand: {wanted}.", *([restored] if moved else []), measured)
    return markdown(columns, map(_row, compared.rows), notes)


def _row(row: Row) -> Sequence[str]:
    rollouts = sum(each.rollouts for each in row.stood)
    return (row.title, *map(_cell, row.stood), f"{rollouts}", f"{row.objects}")


def _cell(stood: Stood) -> str:
    there = f"**{stood.on_demand}**" if stood.is_exact else f"{stood.on_demand}"
    pending = f", {stood.pending} Pending" if stood.pending else ""
    return f"{there}, low {stood.lowest}{pending}"
