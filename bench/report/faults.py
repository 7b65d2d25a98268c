"""What became of storms with faults, as a table."""

from collections.abc import Mapping, Sequence
from typing import Final

from bench.faults.results import Faults, Suffered
from bench.report.markdown import markdown

COLUMNS: Final = (
    "fault",
    "sent",
    "handled",
    "lost",
    "lowest ready share",
    "at zero",
    "too late",
    "full capacity",
    "last pod told to go",
)


def table(faults: Faults) -> str:
    """Markdown: a row per fault, and below it the condition."""
    first = faults.storms[0]
    condition = (
        f"{first.nodes} of {first.nodes} spot nodes noticed, {first.pods:,} pods, fill"
        f" {first.fill:.1f} s, no QPS limits, one run of each. Handled: the function was done with"
        " the message, counted by its id; lost: sent, not handled and neither in the queue nor"
        " among the dead letters. At zero: workloads without a Ready pod at any time; too late:"
        " pods whose eviction was accepted later than their deadline less min(grace, 45 s)."
        f" {faults.worker}. {faults.conditions}."
    )
    answers = [f"{each.title}: {_answers(each.answers)}." for each in faults.storms if each.answers]
    return markdown(COLUMNS, map(_row, faults.storms), (*answers, condition))


def _row(each: Suffered) -> Sequence[str]:
    outcome, tally = each.outcome, each.tally
    stayed = f" (and {outcome.left} never)" if outcome.left else ""
    return (
        each.title,
        f"{tally.sent:,}",
        f"{tally.handled:,}",
        f"{tally.lost}",
        f"{outcome.lowest_share:.2f}",
        f"{outcome.at_zero}",
        f"{outcome.late}{stayed}",
        "never" if outcome.whole is None else f"{outcome.whole:.0f} s",
        "-" if outcome.empty is None else f"{outcome.empty:.0f} s",
    )


def _answers(counts: Mapping[str, int]) -> str:
    """``passed on 800, 429 40, 503 38``."""
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered)
