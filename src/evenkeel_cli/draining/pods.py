"""The pods of nodes that are drained: which have to go, which stay, and what becomes of each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from evenkeel.decisions.drain.returning import ON_PURPOSE
from evenkeel.model.decision import Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, Listing, ObjectItem
from evenkeel_cli.program import NAME
from evenkeel_cli.ways import Situation

OF_THE_NODE: Final = frozenset({Reason.DAEMON_SET, Reason.STATIC_POD, Reason.FINISHED})
"""Reasons for which a pod may be on a node that is drained."""

GOING_ANYWAY: Final = frozenset({Reason.ALREADY_LEAVING, Reason.JOB_MAY_FINISH})
"""Reasons for which a pod that Evenkeel leaves is waited for all the same."""

IN_TIME: Final = f"it could not be handed over in time: {NAME} explain pod says what it waits for"


class StayedPod(ObjectItem, frozen=True, kw_only=True):
    """A pod that is still on a node that was drained, why, and what would change that."""

    node: str
    why: str
    remedy: str


class StayedPodList(Listing, frozen=True, kw_only=True):
    """The pods that stayed: what ``evenkeel drain --apply`` prints at the end."""

    columns: ClassVar[Columns[StayedPod]] = (
        NAMESPACE,
        Column("STAYED", lambda each: each.subject.name),
        Column("NODE", lambda each: words.short_node(each.node)),
        Column("REMEDY", lambda each: each.remedy, wide=True),
        Column("WHY", lambda each: each.why),
    )

    items: Sequence[StayedPod]


@dataclass(frozen=True, slots=True)
class Step:
    """What was seen of a pod: the verb that says it best, in words for people."""

    pod: Pod
    verb: Verb
    text: str


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of the nodes at one time, but for those that belong to their nodes."""

    situations: Sequence[Situation]

    @classmethod
    def of(cls, found: Collection[Situation]) -> "Pods":
        """Leave out what may stay on a drained node."""
        return cls([s for s in found if s.way_for(ON_PURPOSE).reason not in OF_THE_NODE])

    @property
    def going(self) -> Sequence[Situation]:
        """Those that are handed over, that are told to go, or that may finish by themselves."""
        return [s for s in self.situations if _goes(s)]

    @property
    def losing_data(self) -> Sequence[Pod]:
        """Those that will be evicted and hold data in an emptyDir, which is deleted with them."""
        moving = [s.pod for s in self.situations if s.way_for(ON_PURPOSE).way is not Way.STAY]
        return [pod for pod in moving if any(v.empty_dir is not None for v in pod.spec.volumes)]

    @property
    def are_released(self) -> bool:
        """Whether any of them waits for its replacement."""
        return any(s.pod.released and s.pod.active for s in self.situations)

    def listing(self) -> StayedPodList:
        """An item for each that is still there, and why."""
        ordered = sorted(self.situations, key=lambda s: (s.pod.spec.node_name, s.pod.name))
        return StayedPodList(items=[_stayed(situation) for situation in ordered])


@dataclass(slots=True)
class Watch:
    """Tells what has become of pods since the last look."""

    _seen: dict[str, Pod] = field(default_factory=dict)

    def look(self, pods: Pods) -> Sequence[Step]:
        """What is new: released, told to go, put back, gone."""
        now: Mapping[str, Pod] = {s.pod.uid: s.pod for s in pods.situations}
        steps = [
            step
            for uid, pod in now.items()
            if (before := self._seen.get(uid)) is not None and (step := _change(before, pod))
        ]
        gone = [pod for uid, pod in self._seen.items() if uid not in now]
        self._seen = dict(now)
        return [*steps, *(Step(pod, Verb.COMPLETE, "gone") for pod in gone)]


def _change(before: Pod, pod: Pod) -> Step | None:
    if pod.leaving and not before.leaving:
        return Step(pod, Verb.EVICT, "told to go")
    if pod.released and not before.released:
        return Step(pod, Verb.RELEASE, "its replacement is made")
    if before.released and not pod.released:
        return Step(pod, Verb.ROLL_BACK, "back to its owner")
    return None


def _goes(situation: Situation) -> bool:
    route = situation.way_for(ON_PURPOSE)
    return route.way is not Way.STAY or route.reason in GOING_ANYWAY


def _stayed(situation: Situation) -> StayedPod:
    route = situation.way_for(ON_PURPOSE)
    return StayedPod(
        subject=situation.pod.reference,
        node=situation.pod.spec.node_name,
        why=IN_TIME if route.way is not Way.STAY else route.message,
        remedy=route.remedy,
    )
