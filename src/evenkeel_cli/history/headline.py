"""An interruption in a sentence: the same wherever it is told of."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from evenkeel_cli import words
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.workloads import Verdict

NOBODY: Final = "No workload had pods that had to move."


def of(incident: Incident) -> str:
    """What became of the workloads of which pods had to move, and of those pods."""
    concerned, pods = incident.concerned, incident.to_move
    if not concerned:
        return NOBODY
    late = sum(pod.is_late for pod in pods)
    lateness = f"{late} of {words.counted(len(pods), 'pod')} {'was' if late == 1 else 'were'} late"
    return (
        f"Of {words.counted(len(concerned), 'workload')} with pods that had to move"
        f" {', '.join(_verdicts(incident))}; {lateness if late else 'no pod was late'}."
    )


def of_plain(incident: Incident) -> str:
    """What a plain eviction would have done to the same workloads; empty where it is not known.

    That it would have left one with more is an error of Evenkeel's.
    """
    lowest = [(each, incident.in_plain(each.subject)) for each in incident.concerned]
    known = [(each, low) for each, low in lowest if low is not None]
    if not known:
        return ""
    fewer = sum(low < (each.wanted or 0) for each, low in known)
    none = sum(low == 0 < (each.wanted or 0) for each, low in known)
    worse = [
        f"{each.subject} ({each.lowest}, not {low})"
        for each, low in known
        if each.lowest is not None and each.lowest < low
    ]
    return (
        f"A plain eviction of the same nodes (cordon, then evict) would have left"
        f" {fewer or 'none'} of {words.counted(len(known), 'workload')} with fewer than wanted"
        f"{f', {none} of them with none' if none else ''},"
        f" and {len(worse) or 'none'} with more than Evenkeel did"
        f"{f', an error of Evenkeel: {", ".join(worse)}' if worse else ''}."
    )


def _verdicts(incident: Incident) -> Iterator[str]:
    counts = Counter(each.verdict for each in incident.concerned)
    zero = sum(each.was_at_zero for each in incident.concerned if each.verdict is Verdict.DIPPED)
    yield f"{counts[Verdict.KEPT] or 'none'} kept all that are wanted"
    none = f" ({zero} of them had none)" if zero else ""
    yield f"{counts[Verdict.DIPPED] or 'none'} dipped for a reason that is named{none}"
    yield f"{counts[Verdict.FAILED] or 'none'} failed"
    if counts[Verdict.UNKNOWN]:
        yield f"of {counts[Verdict.UNKNOWN]} it is not known"
