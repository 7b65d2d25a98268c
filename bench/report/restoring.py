"""What restore did with a cluster whose pods were all on on-demand nodes, as a table."""

import statistics
from collections.abc import Sequence
from typing import Final

from bench.floors.figures import Stand
from bench.report.floors import span
from bench.report.markdown import markdown
from bench.restoring.results import Restored

COLUMNS: Final = (
    "",
    "workloads",
    "floor",
    "on on-demand in the end",
    "fewest Ready at any time",
    "below wanted",
)


def table(restored: Restored) -> str:
    """Markdown: a row for each kind of workload, and below it the moves and the condition."""
    runs, moves, seconds = restored.runs, restored.moves, restored.seconds
    left = restored.surplus - moves
    bound = f" There it was stopped, with {left:,} to go." if left > 0 else ""
    pace = (
        f"{moves:,} moves of {restored.surplus:,} pods above their floors, in {len(runs)} runs"
        f" and {seconds:.0f} s: {seconds / len(runs):.1f} s a run, {seconds / moves * 1000:.0f} ms"
        f" a move.{bound} Of a run {statistics.median(each.own for each in runs):.1f} s (median)"
        " are restore's own, the rest is until its moves are through, and then the next begins;"
        " the schedule would begin one a minute."
    )
    cpu = (
        f"CPU for a move: restore {_ms(restored.restore_cpu / moves)}, handover"
        f" {_ms(restored.handover_cpu / moves)} ({restored.peak_mb:.0f} MB at most),"
        f" the webhook {_ms(restored.webhook.cpu_seconds / restored.webhook.reviews)} a review."
    )
    condition = (
        f"{restored.pods:,} pods on {restored.on_demand} on-demand nodes, made through the"
        f" webhook while there was no spot; then {restored.spot} spot nodes came. At most"
        f" {restored.budget} moves a run, of each workload one. Ready: and not told to go, the"
        " fewest of any of the workloads, as an outside observer saw it. No QPS limits, one run;"
        f" the process that hands over: {restored.worker}. {restored.conditions}."
    )
    return markdown(
        COLUMNS, (_row(each, restored.percent) for each in restored.stands), (pace, cpu, condition)
    )


def _row(each: Stand, percent: int) -> Sequence[str]:
    policy = f"{percent} %" if each.floor else "the default, none"
    return (
        f"Deployments of {each.replicas}",
        f"{each.workloads}",
        f"{each.floor} ({policy})",
        span(each.on_demand),
        f"{each.lowest}",
        f"{each.below_wanted}",
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
