"""What became of each node, by the records about it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.reasons import Reason
from evenkeel_cli.history import steps
from evenkeel_cli.history.cutting import deadline_of, is_mark
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.steps import Step

SHORT: Final = timedelta(seconds=60)
"""A notice that comes later than this before its deadline leaves little time."""


class NodeAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one node, and when it was to end.

    ``kind`` is the reason of its mark, for instance SpotInterruption, and empty if the mark is not
    in the log; ``noticed_at`` is when it was marked first. ``pods`` are how many pods of it
    were decided about, ``late`` how many of these were late.
    """

    name: str
    kind: str = ""
    noticed_at: datetime | None = None
    deadline: datetime | None = None
    steps: Sequence[Step] = ()
    pods: int = 0
    late: int = 0


def of(
    of_nodes: Mapping[str, Sequence[DecisionRecord]],
    pods: Sequence[PodAccount],
    names: Iterable[str],
) -> Sequence[NodeAccount]:
    """The nodes of these names: those with a notice, or with pods that had to move."""
    on_node = defaultdict[str, list[PodAccount]](list)
    for pod in pods:
        if pod.node:
            on_node[pod.node].append(pod)
    found = []
    for name in names:
        marks = [each for each in of_nodes.get(name, ()) if is_mark(each)]
        there = on_node[name]
        found.append(
            NodeAccount(
                name=name,
                kind=marks[-1].reason if marks else "",
                noticed_at=marks[0].time if marks else None,
                deadline=marks[-1].until if marks else None,
                steps=steps.of(of_nodes.get(name, ())),
                pods=len(there),
                late=sum(pod.is_late for pod in there),
            )
        )
    return sorted(found, key=lambda node: (node.noticed_at is None, node.noticed_at, node.name))


def marked(of_nodes: Mapping[str, Sequence[DecisionRecord]]) -> Mapping[str, datetime]:
    """When nodes were marked first."""
    return {
        name: next(each.time for each in story if is_mark(each))
        for name, story in of_nodes.items()
        if any(map(is_mark, story))
    }


def warned(of_nodes: Mapping[str, Sequence[DecisionRecord]]) -> set[str]:
    """The nodes whose notice left time for a handover."""
    marks = marked(of_nodes)
    return {name for name, at in marks.items() if _last_deadline(of_nodes[name]) - at >= SHORT}


def ended(of_nodes: Mapping[str, Sequence[DecisionRecord]]) -> set[str]:
    """The nodes whose instance was seen to be off."""
    return {name for name, story in of_nodes.items() if any(map(_is_end, story))}


def over(of_nodes: Mapping[str, Sequence[DecisionRecord]]) -> Mapping[str, datetime]:
    """When nodes ended: when that was seen, else at their deadline."""
    ends = dict[str, datetime]()
    for name, story in of_nodes.items():
        seen = next((each.time for each in story if _is_end(each)), None)
        if seen is not None or any(map(is_mark, story)):
            ends[name] = seen or _last_deadline(story)
    return ends


def _last_deadline(story: Iterable[DecisionRecord]) -> datetime:
    """The last deadline of a node that was marked."""
    return [each for record in story if (each := deadline_of(record)) is not None][-1]


def _is_end(record: DecisionRecord) -> bool:
    return record.reason == Reason.INSTANCE_OFF
