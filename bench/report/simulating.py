"""How long simulated storms take, as a table."""

from typing import Final

from bench.report.markdown import markdown
from bench.simulating.results import MINUTES, STORMS, Simulating

COLUMNS: Final = (
    "cluster",
    "storms measured",
    "time",
    "CPU of all",
    f"{STORMS} storms",
    "CPU per pod inside the functions",
    "in `make bench-growth`",
)


def table(found: Simulating) -> str:
    """Markdown: one row, and what was wanted."""
    row = (
        f"{found.nodes} nodes, {found.pods:,} pods",
        f"{found.storms}, {found.jobs} at a time",
        f"{found.seconds:.0f} s",
        f"{found.cpu:.0f} s",
        f"{found.minutes:.1f} min{' (reckoned)' if found.is_reckoned else ''}",
        f"{found.per_pod:.1f} ms",
        f"{found.growth:.1f} ms",
    )
    condition = (
        f"`evenkeel simulate`, a storm of one pool each, on simulated time. Inside the functions:"
        f" one storm alone, {found.struck} pods on nodes with a notice; beside it the fewest nodes"
        f" of `make bench-growth`, on the same machine. Wanted: {STORMS} storms in {MINUTES:g} min"
        f" at most, and no more CPU per pod. {found.conditions}."
    )
    return markdown(COLUMNS, [row], (condition,))
