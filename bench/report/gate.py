"""How long evictions take with the gate, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.gate.results import Gating
from bench.report.markdown import markdown
from bench.storm.figures import Percentiles

COLUMNS: Final = ("", "evictions", "median", "p99", "worst")


def table(gating: Gating) -> str:
    """Markdown: evictions at a rate, by what was answered."""
    extent, middle, webhook = gating.extent, gating.middle, gating.webhook
    p99 = ", ".join(_ms(each.all.p99) for each in gating.rounds)
    wanted = (
        f"Wanted at {extent.rate:g} evictions a second: a 99th percentile of at most"
        f" {_ms(gating.wanted)}; the rounds had {p99}."
    )
    condition = (
        f"The {'middle' if extent.rounds > 1 else 'only'} one of {extent.rounds} rounds by its"
        f" 99th percentile, each {extent.seconds} s, by {gating.clients} clients. From when an"
        " eviction was due until its answer; one that is put off is sent again when its time has"
        f" come. {extent.singles} Deployments of one replica and {extent.large} of {extent.size},"
        f" whose pods are Ready after {extent.start} s. `evenkeel serve` is a process beside the"
        f" control plane: {_ms(webhook.cpu_seconds / webhook.reviews)} of CPU for a review of"
        f" {_ms(webhook.mean)} (both means over all), {webhook.peak_mb:.0f} MB."
        f" {gating.conditions}."
    )
    rows = [
        _row(f"{extent.rate:g} evictions a second", middle.all),
        _row("of these: passed", middle.passed),
        _row("put off", middle.deferred),
    ]
    return markdown(COLUMNS, rows, (wanted, condition))


def _row(name: str, found: Percentiles | None) -> Sequence[str]:
    if found is None:
        return name, "0", "-", "-", "-"
    return name, f"{found.count}", *map(_ms, (found.median, found.p99, found.worst))


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
