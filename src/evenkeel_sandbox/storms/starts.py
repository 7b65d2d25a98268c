"""How long pods and nodes take to start, as a cluster's own objects tell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from evenkeel.model import names
from evenkeel.model.pool import Pool
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    condition_of,
    controller_of,
    is_true,
    node_of,
)

LONGEST: Final = 600.0
"""Seconds. What became Ready later than that has been unready since."""

EARLIEST: Final = "1970-01-01T00:00:00Z"

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


def node_start_of(objects: Iterable[Obj]) -> Mapping[Pool, timedelta]:
    """How long the nodes of a type in a zone took to come, spot or not, where pods tell.

    A pod that was made before its node waited for it: from the pod's creation to Ready of the node
    is what a node takes, launch and all. The node's own times do not tell that, as its object is
    made when its kubelet registers. The middle one counts.
    """
    objects = list(objects)
    nodes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Node"}
    seen: defaultdict[Pool, list[float]] = defaultdict(list)
    for pod in objects:
        node = nodes.get(node_of(pod)) if pod["kind"] == "Pod" else None
        if node is None or not is_true(node, "Ready") or _made(pod) >= _made(node):
            continue
        seconds = (_since(node, "Ready") - _made(pod)).total_seconds()
        if seconds <= LONGEST:
            seen[kind_of(node)].append(seconds)
    return {kind: timedelta(seconds=median(times)) for kind, times in seen.items()}


def kind_of(node: Obj) -> Pool:
    """The type and the zone of a node, spot or not."""
    labels = node["metadata"].get("labels", {})
    return Pool(labels.get(names.INSTANCE_TYPE, ""), labels.get(names.ZONE, ""))


def _made(each: Obj) -> datetime:
    return datetime.fromisoformat(each["metadata"].get("creationTimestamp") or EARLIEST)


def _middle(times: list[float]) -> Range:
    return times[(len(times) - 1) // 4], times[3 * (len(times) - 1) // 4]


def _since(pod: Obj, kind: str) -> datetime:
    text = (condition_of(pod, kind) or {}).get("lastTransitionTime")
    return datetime.fromisoformat(text or EARLIEST)
