"""What happens in the demo, and when: the sample events, and a storm of warnings after them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.node import Node
from evenkeel.model.notice import InstanceAction, Notice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel_sandbox.events import Arriving, for_instance

WARNINGS: Final = 14
"""How many interruption warnings come on top of the samples."""

FIRST: Final = timedelta(seconds=2)
SAMPLES_EVERY: Final = timedelta(seconds=1)
STORM_EVERY: Final = timedelta(seconds=0.8)

DELICATE: Final = (
    "login",
    "postgres",
    "coupons",
    "mailer",
    "ledger",
    "queue",
    "embeddings",
    "portal",
    "chat",
    "checkout",
    "coredns",
    "nightly-report",
    "import",
    "debug-shell",
)
"""The workloads that show something: the storm should hit a pod of each, two of embeddings."""

COMMON: Final = ("web", "api", "search", "node-agent")
"""The workloads whose pods may be lost without a warning: there are enough of them."""


@dataclass(frozen=True, slots=True)
class Blow:
    """One event, and how long after the beginning it comes."""

    after: timedelta
    arriving: Arriving


@dataclass(frozen=True, slots=True)
class Storm:
    """All blows in their order, and the nodes that the samples' instances are, by id."""

    blows: Sequence[Blow]
    nodes: Mapping[str, str]

    @property
    def last(self) -> timedelta:
        """When the last event comes."""
        return self.blows[-1].after


def plan(samples: Sequence[Arriving], nodes: Sequence[Node], pods: Sequence[Pod]) -> Storm:
    """Bind the samples about spot to spot nodes, and let warnings for others follow.

    A warning that leaves time comes for nodes with delicate workloads; whatever leaves none,
    or is a mere hint, for nodes that have only common ones.
    """
    labels = WELL_KNOWN
    spot = [node for node in nodes if labels.call_spot(node)]
    ordered = sorted(filter(_is_about_spot, samples), key=_rank)
    notices = {s.notice.instance_id: s.notice for s in reversed(ordered) if s.notice is not None}
    sudden = [each for each, notice in notices.items() if not _leaves_time(notice)]
    bound = dict(zip(sudden, (node.name for node in _common(spot, pods)), strict=False))
    delicate = iter(_delicate([node for node in spot if node.name not in bound.values()], pods))
    bound |= {each: next(delicate).name for each in notices if each not in bound}
    template = next(s for s in ordered if s.notice is not None and _terminates(s.notice))
    storm = [
        for_instance(template, node.instance_id, f"storm-{number:02d}")
        for number, node in enumerate(itertools.islice(delicate, WARNINGS), start=1)
    ]
    calm = FIRST + len(ordered) * SAMPLES_EVERY
    return Storm(
        [
            *(Blow(FIRST + i * SAMPLES_EVERY, sample) for i, sample in enumerate(ordered)),
            *(Blow(calm + i * STORM_EVERY, warning) for i, warning in enumerate(storm)),
        ],
        bound,
    )


def _is_about_spot(sample: Arriving) -> bool:
    """Whether it is of the kinds of event by which EC2 takes spot instances back."""
    return sample.notice is None or not sample.notice.cause


def _leaves_time(notice: Notice) -> bool:
    return notice.deadline > notice.time and not notice.is_hint


def _terminates(notice: Notice) -> bool:
    return _leaves_time(notice) and notice.action is InstanceAction.TERMINATE


def _rank(sample: Arriving) -> tuple[int, bool, str]:
    """Warnings first, then hints, then states: of an instance, going comes before gone."""
    notice = sample.notice
    if notice is None:
        return 2, False, sample.place.file
    rank = {NoticeKind.INTERRUPTION: 0, NoticeKind.REBALANCE: 1}.get(notice.kind, 3)
    if notice.kind is NoticeKind.STATE_CHANGE:
        return rank, sample.event["detail"]["state"] in ("stopped", "terminated"), ""
    return rank, notice.action is InstanceAction.HIBERNATE, sample.place.file


def _names_on(node: Node, pods: Sequence[Pod]) -> list[str]:
    """The names of the workloads that have pods on a node, one for each pod."""
    known = (*DELICATE, *COMMON)
    return [
        next((name for name in known if pod.name.startswith(name)), "")
        for pod in pods
        if pod.spec.node_name == node.name
    ]


def _delicate(spot: Sequence[Node], pods: Sequence[Pod]) -> Iterator[Node]:
    """First a node for each delicate workload, in that order, then the fullest other ones."""
    names = {node.name: _names_on(node, pods) for node in spot}
    left = {node.name: node for node in spot}
    hit: set[str] = set()
    for wanted in (*DELICATE, "embeddings"):
        if wanted in hit and wanted != "embeddings":
            continue
        found = next((name for name in left if wanted in names[name]), None)
        if found is not None:
            hit |= set(names[found])
            yield left.pop(found)
    yield from sorted(left.values(), key=lambda node: -len(names[node.name]))


def _common(spot: Sequence[Node], pods: Sequence[Pod]) -> Iterator[Node]:
    """The nodes that have common workloads only."""
    for node in spot:
        names = _names_on(node, pods)
        if names and set(names) <= set(COMMON):
            yield node
