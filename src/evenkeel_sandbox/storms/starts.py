"""How long the pods of each workload take to start, as a cluster's own pods tell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from evenkeel_sandbox.simulator.api.objects import Obj, condition_of, controller_of, is_true

LONGEST: Final = 600.0
"""Seconds. A pod that became Ready later than that after it had a node has been unready since."""

type Range = tuple[float, float]
"""Seconds, from and to."""


def start_seconds_of(pods: Iterable[Obj]) -> Mapping[str, Range]:
    """How long the middle half of a controller's Ready pods took from a node to Ready, by its uid.

    Conditions have whole seconds. What started within one is not told.
    """
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for pod in pods:
        owner = controller_of(pod)
        if owner is None or not is_true(pod, "Ready"):
            continue
        seconds = (_since(pod, "Ready") - _since(pod, "PodScheduled")).total_seconds()
        if 0 < seconds <= LONGEST:
            seen[owner["uid"]].append(seconds)
    return {uid: _middle(sorted(times)) for uid, times in seen.items()}


def _middle(times: list[float]) -> Range:
    return times[(len(times) - 1) // 4], times[3 * (len(times) - 1) // 4]


def _since(pod: Obj, kind: str) -> datetime:
    text = (condition_of(pod, kind) or {}).get("lastTransitionTime")
    return datetime.fromisoformat(text or "1970-01-01T00:00:00Z")
