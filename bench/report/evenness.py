"""How evenly a storm hits workloads, as a table."""

from typing import Final

from bench.evenness.results import Evenness
from bench.report.markdown import markdown

COLUMNS: Final = (
    "replacements made in time",
    "pods too late",
    "lowest ready share",
    "of the workload in the middle",
    "of the best",
    "single replicas at zero",
)


def table(found: Evenness) -> str:
    """Markdown: one row, and what was wanted."""
    row = (
        f"{found.made:,} of {found.pods:,}",
        f"{found.late}",
        f"{found.lowest:.2f}",
        f"{found.median:.2f}",
        f"{max(found.shares):.2f}",
        f"{found.singles_at_zero}",
    )
    condition = (
        f"{found.nodes} of {found.nodes} spot nodes noticed, on simulated time: an API server that"
        f" takes {found.requests_per_second:g} of Evenkeel's requests a second, and controllers"
        f" of {found.qps:g} a second. Wanted: a lowest share of {found.wanted:.2f} at least, 0.8"
        f" of what was made; nothing too late, no single replica at zero. {found.conditions}."
    )
    return markdown(COLUMNS, [row], (condition,))
