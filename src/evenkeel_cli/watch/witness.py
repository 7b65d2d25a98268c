"""What a cluster's objects show of an interruption, told as the decision log tells it.

A mark on a node, a release of a pod, and that a pod is told to go stand on the objects. Why a pod
goes its way is asked of Evenkeel's own decision (``evenkeel nodes``). Whether its replacement ran
when it was told to go shows the number of pods that serve.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.adapters.telemetry import decision_log
from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.decisions.drain import remedies, verdicts
from evenkeel.decisions.drain.returning import Drain
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.kinds import KINDS
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Change, Relisted
from evenkeel.model.times import in_words
from evenkeel.model.way import Way
from evenkeel.ports import Arrival
from evenkeel.settings import Mode
from evenkeel_cli.draining.pods import OF_THE_NODE
from evenkeel_cli.nodes.listing import HURRY
from evenkeel_cli.nodes.looking import Going, Look
from evenkeel_sandbox.observer.health import End
from evenkeel_sandbox.observer.workloads import Observer

_REASONS: Final = {kind.name: kind.reason for kind in KINDS} | {
    NoticeKind.DRAIN.value: Reason.DRAIN_ASKED
}
"""The reason of a mark, by what the kind of event is called that it came of."""

_GONE_BY_TURNS: Final = frozenset({Way.BY_ORDINAL, Way.RATIONED, Way.AT_ONCE})
"""Ways on which a pod goes before another one comes, and not at its last moment."""


@dataclass(slots=True)
class Witness:
    """Keeps records of one cluster. ``observer`` counts its pods, and has seen what this sees.

    ``records``: of what was seen since ``forget`` was called last.
    """

    observer: Observer
    cluster: str
    records: list[DecisionRecord] = field(default_factory=list)
    deadlines: dict[str, datetime] = field(default_factory=dict)
    _pods: dict[str, Pod] = field(default_factory=dict)
    _told: set[tuple[str, Verb]] = field(default_factory=set)
    _ways: dict[str, Route] = field(default_factory=dict)
    _ended: list[tuple[Pod, datetime, bool]] = field(default_factory=list)

    @property
    def nodes(self) -> set[str]:
        """The nodes that were marked."""
        return {each.subject.name for each in self.records if each.subject.kind == "Node"}

    @property
    def is_calm(self) -> bool:
        """Whether no node has a mark, and no pod is on its way."""
        return not (self.deadlines or self._pods)

    def forget(self) -> None:
        """An interruption is over."""
        self.records.clear()
        self._told.clear()
        self._ways.clear()

    def see(self, arrivals: Iterable[Arrival], now: datetime) -> None:
        """Take in what the observer's watches delivered."""
        for arrival in arrivals:
            match arrival:
                case Relisted(selection=selection, listing=listing):
                    for item in listing.items:
                        self._learn(item, now)
                    there = {item.uid for item in listing.items}
                    self._forget_others(selection.kind, there, now)
                case Change(object=item, deleted=True):
                    self._lose(item, now)
                case Change(object=item):
                    self._learn(item, now)

    def ask(self, look: Look) -> None:
        """Take in why pods go their way, also of those that were told to go just before."""
        for doomed in look.nodes:
            for going in doomed.pods:
                pod = going.situation.pod
                if going.route.reason not in OF_THE_NODE and pod.uid not in self._ways:
                    self._pods.setdefault(pod.uid, pod)
                    self._ask(pod, _before_it_left(going, doomed.drain), look.at)
        ended, self._ended = self._ended, []
        for pod, at, is_whole in ended:
            self._tell_of_end(pod, at, is_whole=is_whole)

    def _ask(self, pod: Pod, route: Route, at: datetime) -> None:
        self._ways[pod.uid] = route
        if route.way is not Way.HANDOVER:
            verb = Verb.LEAVE if route.way is Way.STAY else Verb.WAIT
            told_at = min(each for each in (at, pod.metadata.deletion_timestamp) if each)
            self._tell(pod, verb, told_at, route.reason, route.message, why=route.why)

    def _learn(self, item: KubernetesObject, now: datetime) -> None:
        match item:
            case Node():
                self._learn_node(item, now)
            case Pod():
                self._learn_pod(item, now)

    def _learn_node(self, node: Node, now: datetime) -> None:
        notice = mark.read(node)
        before = self.deadlines.get(node.name)
        if notice is not None and notice.deadline != before:
            self.deadlines[node.name] = notice.deadline
            reason = _REASONS.get(notice.name, Reason.SPOT_INTERRUPTION)
            end = "the recommendation expires" if notice.is_hint else "its instance ends"
            told = f"{end} {in_words(notice.deadline)}"
            decision = Decision.about(node, Verb.MARK, reason, told, until=notice.deadline)
            self._keep(decision, min(now, notice.since))
        elif notice is None and before is not None:
            del self.deadlines[node.name]
            told = "its mark was taken off"
            self._keep(Decision.about(node, Verb.LIFT, Reason.HINT_EXPIRED, told), now)
            self._leave_pods_of(node.name, now)

    def _learn_pod(self, pod: Pod, now: datetime) -> None:
        release = pod.release if pod.released else None
        if (
            release is None
            and pod.spec.node_name not in self.deadlines
            and pod.uid not in self._pods
        ):
            return
        if pod.finished or self._belongs_to_node(pod):
            self._pods.pop(pod.uid, None)
            return
        was_released = self._is_released(self._pods.get(pod.uid))
        self._pods[pod.uid] = pod
        if release is not None and not was_released:
            told = "a replacement is made for it"
            self._tell(pod, Verb.RELEASE, min(now, release.since), _why(release), told)
        if was_released and not pod.released and not pod.leaving:
            self._told.discard((pod.uid, Verb.RELEASE))
            self._tell(
                pod, Verb.ROLL_BACK, now, Reason.HANDOVER_ROLLED_BACK, "its release was undone"
            )
            if pod.spec.node_name not in self.deadlines:
                del self._pods[pod.uid]
        elif pod.leaving:
            self._note_end(pod, now)

    def _note_end(self, pod: Pod, now: datetime) -> None:
        """A pod is told to go. Why that way is asked for at the next look."""
        if (pod.uid, Verb.EVICT) not in self._told:
            self._told.add((pod.uid, Verb.EVICT))
            health = self.observer.health_of(pod.uid)
            is_whole = health is not None and health.ready >= (health.wanted or 0)
            self._ended.append((pod, now, is_whole))

    def _tell_of_end(self, pod: Pod, at: datetime, *, is_whole: bool) -> None:
        route = self._ways.get(pod.uid)
        deadline = self.deadlines.get(pod.spec.node_name)
        grace = timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
        is_last = deadline is not None and deadline - at <= grace + HURRY
        if pod.released and is_whole:
            told = "as many pods are Ready without it as are wanted"
            self._tell(pod, Verb.EVICT, at, Reason.REPLACEMENT_AVAILABLE, told)
        elif is_last or pod.released:
            if pod.released:
                self._tell_of_missing(pod, at)
            self._tell(pod, Verb.EVICT, at, Reason.LAST_MOMENT, "its node ends", late=True)
        elif route is not None and route.way in _GONE_BY_TURNS:
            told = "another one comes after it"
            self._tell(pod, Verb.EVICT, at, route.reason, told, why=route.why)
        else:
            self._tell(pod, Verb.EVICT, at, Reason.NODE_DOOMED, "another one comes after it")

    def _tell_of_missing(self, pod: Pod, at: datetime) -> None:
        """Why a released pod has no replacement yet."""
        health = self.observer.health_of(pod.uid)
        obstacle = "" if health is None else self.observer.obstacle(health)
        if obstacle:
            why = verdicts.handed_over(obstacle, remedies.for_place(obstacle))
            self._tell(pod, Verb.WAIT, at, Reason.NO_PLACE, obstacle, why=why)
        else:
            why = verdicts.handed_over("its replacement is not Ready", remedies.ROOM)
            self._tell(pod, Verb.WAIT, at, Reason.REPLACEMENT_PENDING, why.cause, why=why)

    def _lose(self, item: KubernetesObject, now: datetime) -> None:
        if isinstance(item, Node) and self.deadlines.pop(item.name, None) is not None:
            told = "the node is deleted"
            self._keep(Decision.about(item, Verb.COMPLETE, Reason.INSTANCE_OFF, told), now)
            self._leave_pods_of(item.name, now)
        elif isinstance(item, Pod) and item.uid in self._pods:
            if self.observer.end_of(item.uid) not in {End.LOST, End.FINISHED}:
                self._note_end(item, now)
            del self._pods[item.uid]

    def _leave_pods_of(self, node: str, now: datetime) -> None:
        """Nothing is to be done about pods that are still there."""
        for pod in [each for each in self._pods.values() if each.spec.node_name == node]:
            if self.observer.end_of(pod.uid) is End.ALIVE and not pod.released:
                self._tell(pod, Verb.LEAVE, now, Reason.HINT_EXPIRED, "its node may stay")
                del self._pods[pod.uid]

    def _forget_others(self, kind: type[KubernetesObject], there: set[str], now: datetime) -> None:
        """What was there before a new list, and is not on it."""
        if kind is Pod:
            for pod in [each for uid, each in self._pods.items() if uid not in there]:
                self._lose(pod, now)

    def _belongs_to_node(self, pod: Pod) -> bool:
        owner = pod.controller
        return owner is not None and owner.full_kind in {"DaemonSet", "Node"}

    def _is_released(self, pod: Pod | None) -> bool:
        return pod is not None and pod.released

    def _tell(
        self,
        pod: Pod,
        verb: Verb,
        at: datetime,
        reason: Reason,
        message: str,
        *,
        late: bool = False,
        why: Why | None = None,
    ) -> None:
        """Keep a record about a pod. ``late``: it goes before its replacement is Ready."""
        self._told.add((pod.uid, verb))
        health = self.observer.health_of(pod.uid)
        workload = None if health is None or health.workload.kind == "Pod" else health.workload
        decision = Decision.about(
            pod, verb, reason, message, workload=workload, warning=late, forced=late, why=why
        )
        self._keep(decision, at)

    def _keep(self, decision: Decision, at: datetime) -> None:
        self.records.append(decision_log.record(decision, at, self.cluster, Mode.ACT))


def _before_it_left(going: Going, drain: Drain) -> Route:
    """How a pod goes, or would go if it had not been told to."""
    if going.route.reason is not Reason.ALREADY_LEAVING:
        return going.route
    situation = going.situation
    metadata = msgspec.structs.replace(situation.pod.metadata, deletion_timestamp=None)
    pod = msgspec.structs.replace(situation.pod, metadata=metadata)
    return replace(situation, pod=pod).way_for(drain)


def _why(release: Release) -> Reason:
    """The reason with which a pod is released."""
    match release.reason:
        case ReleaseReason.RESTORE:
            is_back = release.target is Capacity.ON_DEMAND
            return Reason.FLOOR_MISSING if is_back else Reason.ABOVE_FLOOR
        case ReleaseReason.EVICTION:
            return Reason.EVICTION_ASKED
    return Reason.NODE_DOOMED
