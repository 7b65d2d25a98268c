"""What became of each pod that a notice concerned: how it moved, and why that way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel_cli.journal import Entry, Journal
from evenkeel_sandbox.observer.health import End, Health
from evenkeel_sandbox.observer.workloads import Observer


class Move(StrEnum):
    """The ways a pod can have gone, best first."""

    HANDED_OVER = "handed over"
    ONE_AT_A_TIME = "one at a time"
    IN_TURNS = "in turns"
    AT_ONCE = "at once"
    FINISHED = "finished first"
    LAST_MOMENT = "at the last moment"
    DELETED = "deleted"
    PUT_BACK = "put back"
    LEFT = "left"
    LOST = "lost with its node"
    WAITING = "still waiting"


REASONS: Final[Mapping[str, str]] = {
    "ReplacementAvailable": "its replacement ran before it went",
    "StatefulSet": "StatefulSet: each ordinal exists once",
    "HandoverNever": f"annotation {names.HANDOVER}: never",
    "Recreate": "the Deployment's strategy is Recreate",
    "NoSurge": "the Deployment's maxSurge is 0",
    "SingleNodeVolume": "its volume can be mounted by one node only",
    "LiveMigration": f"label {names.LIVE_MIGRATION}: it is moved alive",
    "NoTemplateHash": "its ReplicaSet does not select by template hash",
    "SelectedByHash": "a Service or policy selects by template hash",
    "ForeignController": "its controller makes no pod before one has gone",
    "JobMayFinish": "Job: it may still finish",
    "BarePod": "bare pod: no controller makes it again",
    "DaemonSet": "DaemonSet: it belongs to its node",
    "StaticPod": "static pod: its kubelet owns it",
    "CannotBeReplaced": "no replacement could be made",
    "QuotaRefuses": "a quota allows no second pod beside it",
    "ReplacementPending": "its replacement was not available in time",
    "TooLateForHandover": "too little time was left for a handover",
    "LandedAfterCordon": "it had landed on its node in spite of the cordon",
    "BudgetRefusedAtLastMoment": "its budget refused to the end",
    "EvictionRefusedAtLastMoment": "a policy or webhook denied its eviction to the end",
    "Protected": "an annotation forbids voluntary moves",
}
"""Evenkeel's reasons, in a few words for a table."""

BROKEN_AT_ONCE: Final = frozenset({"Recreate", "SingleNodeVolume"})
"""Reasons for which a pod goes before its replacement comes, and does not wait for a turn."""

UNREPLACED: Final = frozenset(
    {"ReplacementPending", "CannotBeReplaced", "TooLateForHandover", "LandedAfterCordon"}
)
"""Reasons for which the scheduler or a controller may know more."""

NO_WARNING: Final = "its node left no time for a handover"

SETTLING: Final = frozenset({Verb.EVICT, Verb.DELETE, Verb.ROLL_BACK, Verb.LEAVE})
"""Verbs after which nothing more is done about a pod, unless something changes."""

BY_REASON: Final[Mapping[str, Move]] = {
    "ReplacementAvailable": Move.HANDED_OVER,
    "StatefulSet": Move.ONE_AT_A_TIME,
    "LastMoment": Move.LAST_MOMENT,
    "BudgetRefusedAtLastMoment": Move.LAST_MOMENT,
    "EvictionRefusedAtLastMoment": Move.LAST_MOMENT,
}
"""How a pod went that was evicted or deleted for one of these reasons."""

AT_THE_END: Final = frozenset(
    {"LastMoment", "BudgetRefusedAtLastMoment", "EvictionRefusedAtLastMoment"}
)
"""Reasons behind which there is another one: why it came to that."""

LAST_ON_PURPOSE: Final = frozenset({"JobMayFinish", "BarePod"})
"""Reasons for which a pod stays to its last moment although it could go before."""


class Decided(Protocol):
    """What was decided about a pod, in a journal or in a log."""

    @property
    def verb(self) -> str:
        """What was decided."""
        ...

    @property
    def reason(self) -> str:
        """Why, in a word."""
        ...


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one pod."""

    pod: Reference
    workload: Reference
    move: Move
    why: str


def fates(journal: Journal, observer: Observer) -> Sequence[Fate]:
    """What became of every pod that was decided about, or that died with its node."""
    stories: dict[str, list[Entry]] = {}
    for entry in journal.entries:
        if entry.decision.subject.kind == "Pod":
            stories.setdefault(entry.decision.subject.uid, []).append(entry)
    lost = {uid: pod.reference for uid, pod in observer.lost_pods.items()}
    pods = lost | {uid: story[-1].decision.subject for uid, story in stories.items()}
    return [_fate(pod, stories.get(uid, ()), observer) for uid, pod in pods.items()]


def _fate(pod: Reference, story: Sequence[Entry], observer: Observer) -> Fate:
    health = observer.health_of(pod.uid)
    wanted = health.wanted if health is not None else None
    last = next((e.decision for e in reversed(story) if e.decision.verb in SETTLING), None)
    return Fate(
        pod=pod,
        workload=health.workload if health is not None else pod,
        move=_move(last, observer.end_of(pod.uid), is_single=wanted == 1),
        why=_why([entry.decision for entry in story], health),
    )


def by_log(story: Sequence[Decided], *, node_ended: bool) -> Move:
    """How a pod went, from what was decided about it alone, the latest last.

    ``node_ended``: its node's instance is off. A Job's pod that was never evicted has finished:
    else its last moment would have come.
    """
    last = next((each for each in reversed(story) if each.verb in SETTLING), None)
    if last is None and node_ended:
        return Move.FINISHED if behind(story) == "JobMayFinish" else Move.LOST
    if last is None:
        return Move.WAITING
    return Move.LOST if last.reason == "NodeGone" else _move(last, End.GONE, is_single=False)


def behind(story: Sequence[Decided]) -> str:
    """The reason behind the last decision: of a last moment, why it came to that."""
    return next((each.reason for each in reversed(story) if each.reason not in AT_THE_END), "")


def _move(last: Decided | None, end: End, *, is_single: bool) -> Move:
    """How a pod went, from the last that was decided about it and from how it ended."""
    if last is None:
        return {End.LOST: Move.LOST, End.FINISHED: Move.FINISHED}.get(end, Move.WAITING)
    if last.verb == Verb.LEAVE:
        return Move.LEFT
    if end is End.LOST:
        return Move.LOST
    if last.verb == Verb.ROLL_BACK:
        return Move.PUT_BACK
    if last.reason in BY_REASON:
        return BY_REASON[last.reason]
    if last.verb == Verb.DELETE:
        return Move.DELETED
    return Move.AT_ONCE if is_single or last.reason in BROKEN_AT_ONCE else Move.IN_TURNS


def _why(story: Sequence[Decision], health: Health | None) -> str:
    """The reason behind the last decision; of a last moment, why it came to that."""
    behind = [decision for decision in story if decision.reason not in AT_THE_END]
    if not behind:
        return NO_WARNING
    last = behind[-1]
    if last.reason in UNREPLACED and health is not None and health.last_obstacle:
        return health.last_obstacle
    return REASONS.get(last.reason, last.message)
