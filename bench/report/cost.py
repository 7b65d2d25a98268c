"""The tables of docs/cost.md."""

from collections.abc import Sequence
from typing import Final

from bench.conditions import together
from bench.cost.bill import Bill
from bench.cost.month import Line

COLUMNS: Final = (
    "scenario",
    "invocations",
    "billed",
    "SQS requests",
    "log",
    "1,000 interruptions, arm64",
    "x86_64",
)


def table(found: Bill) -> str:
    """Markdown: the month, the options, the storms, a pod instead, and below it the condition."""
    month, prices = found.month, found.prices
    idle = [*_rows(month.idle), f"| **together** | **{_dollars(month.total)}** |"]
    rows = [
        *_head("a month in which nothing happens"),
        *idle,
        "",
        *_head("what is added"),
        *_rows(month.options),
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for each in found.scenarios:
        used, total = each.usage, each.per_thousand.total
        rows.append(
            f"| {each.scenario}: {used.interruptions:.0f} nodes, {each.seconds:.0f} s |"
            f" {used.invocations:.0f} | {used.billed_ms / 1000:.1f} s | {used.sqs_requests:.0f} |"
            f" {used.log_bytes / 1e6:.1f} MB | ${total['arm64']:.3f} | ${total['x86_64']:.3f} |"
        )
    took = month.times
    runs = ", ".join(f"{ms:,.0f} ms with {pods:,} pods" for pods, ms in took.restore.items())
    rows += [
        "",
        *_head("a pod instead, a month"),
        *_rows(month.beside),
        "",
        (
            f"- Prices of {prices.region}, read on {prices.read}, without free tiers;"
            f" {found.memory_mb} MB per function, {found.line_bytes} bytes per log line. Each"
            " storm until all was well, which may be before its nodes end."
        ),
        (
            f"- Measured: a call of the schedule {took.schedule:.0f} ms, of a batch of notices"
            f" {took.notice:.0f} ms, a review of a pod {took.placement:.0f} ms, of an eviction"
            f" {took.gate:.0f} ms; a run of restore {runs}. {together(found.measured)}."
        ),
    ]
    return "\n".join(rows) + "\n"


def _head(what: str) -> Sequence[str]:
    return (f"| {what}, arm64 | $ |", "|---|---|")


def _rows(lines: Sequence[Line]) -> Sequence[str]:
    return [f"| {line.what} | {_dollars(line.dollars)} |" for line in lines]


def _dollars(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.4f}"
