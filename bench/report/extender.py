"""What the scheduler's extender takes, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.extender.results import CALL, RATIO, Extending
from bench.report.markdown import markdown
from bench.storm.figures import Percentiles

COLUMNS: Final = ("", "calls", "median", "p99", "worst")


def table(extending: Extending) -> str:
    """Markdown: both calls by how many nodes they are about; the pairs below it."""
    extent = extending.extent
    rows = [
        _row(f"{verb}, {each.offered:,} nodes", found)
        for each in extending.calls
        for verb, found in (("filter", each.filter), ("prioritize", each.prioritize))
    ]
    calls = (
        f"Wanted: a 99th percentile of at most {_ms(CALL)}. {extent.nodes:,} nodes, of which one in"
        f" 125 is doomed, and {extent.standing:,} pods, of which {extent.rate} a second move; a"
        " Deployment with a floor of 30 %. One call after the other over one TLS connection, from"
        f" the first byte sent to the last read. The process had at most"
        f" {extending.peak_mb:.0f} MB."
    )
    pairs = "; ".join(f"{each.without:.1f} and {each.extended:.1f} s" for each in extending.pairs)
    scheduled = (
        f"{extent.pods} pods of one Deployment on {extent.small} nodes, by a real scheduler with"
        f" Kubernetes' own limit of 50 requests a second, until all have a node, without the"
        f" extender and with it: {pairs}. The median is {extending.ratio:.2f} times as long, wanted"
        f" at most {RATIO:g}. On on-demand, where {extending.floor} are wanted:"
        f" {', '.join(map(str, extending.on_demand))}. {extending.conditions}."
    )
    return markdown(COLUMNS, rows, (calls, scheduled))


def _row(name: str, found: Percentiles) -> Sequence[str]:
    return name, f"{found.count}", *map(_ms, (found.median, found.p99, found.worst))


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
