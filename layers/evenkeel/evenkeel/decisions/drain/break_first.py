"""The ways that break before they make: rationed, at once, by ordinal, at the last moment."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.plan import Plan
from evenkeel.decisions.drain.refusal import kept_past_deadline, tried_until
from evenkeel.decisions.drain.route import Route, Way
from evenkeel.decisions.drain.surroundings import Owner
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod, next_available_at
from evenkeel.model.reasons import Reason
from evenkeel.model.surroundings import PodDisruptionBudget
from evenkeel.model.times import next_due
from evenkeel.model.workload import ReplicaSet, StatefulSet


class MovingPod(msgspec.Struct, frozen=True):
    """A pod on a cordoned, doomed node, the way it goes and its node's notice.

    Or one that goes with its gang (see ``gangs``), and then of a node that ``lives`` too; the
    notice is that of a node which dies.
    """

    pod: Pod
    route: Route
    notice: NodeNotice
    together: datetime | None = None
    lives: bool = False

    @property
    def deadline(self) -> Deadline:
        """By when it has to go."""
        return node_deadline(self.notice)


class Group(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The movers of one controller that go the same way, and what is known of their peers.

    ``peers`` are all active pods of the controller, movers included. ``budgets`` select
    the movers.
    """

    now: datetime
    owner: Owner
    movers: Sequence[MovingPod]
    peers: Sequence[Pod] = ()
    budgets: Sequence[PodDisruptionBudget] = ()

    @property
    def replicas(self) -> int:
        """How many pods the controller is asked for; as many as it has if that is unknown."""
        controller = self.owner.controller
        if isinstance(controller, ReplicaSet | StatefulSet):
            return controller.spec.replicas
        return len(self.peers)

    @property
    def min_ready_seconds(self) -> int:
        """For how long a pod has to be Ready to count as available."""
        controller = self.owner.controller
        if isinstance(controller, ReplicaSet | StatefulSet):
            return controller.spec.min_ready_seconds
        return 0

    def is_available(self, pod: Pod) -> bool:
        """Whether a pod counts as available to its controller."""
        return pod.available(self.now, self.min_ready_seconds)

    @property
    def next_available_at(self) -> datetime | None:
        """When the next Ready pod becomes available by time alone."""
        return next_available_at(self.peers, self.min_ready_seconds, self.now)

    @cached_property
    def available(self) -> int:
        """How many of its pods are available now."""
        return sum(map(self.is_available, self.peers))

    @property
    def missing(self) -> int:
        """How many replicas are not available now."""
        return max(0, self.replicas - self.available)

    def left_without(self, number: int) -> float:
        """The share of its replicas that serve on without so many pods, 0 to 1."""
        left = max(0, self.available - number)
        return min(1.0, left / self.replicas) if self.replicas else 0.0


def plan(group: Group) -> Plan:
    """Decide about the movers of one controller.

    Pods of nodes that die are evicted at their last moment, whatever the way; before that

    - at once: all go now, within their budgets;
    - rationed, by ordinal: see ``_whose_turn``;
    - at the last moment, and those that have to wait for a turn: they wait.
    """
    steps: list[Decision] = []
    fresh_steps: list[Decision] = []
    forced: list[Forced] = []
    dues = [group.next_available_at]
    turn = _whose_turn(group)
    for mover in group.movers:
        pod, deadline = mover.pod, mover.deadline
        until = deadline.at
        if deadline.forced:
            left = kept_past_deadline(pod, group.owner, deadline, group.now)
            if left is not None:
                steps.append(left)
                continue
            left_share = group.left_without(len(forced) + 1)
            each = Forced(
                pod=pod,
                owner=group.owner,
                deadline=deadline,
                left=left_share,
                together=mover.together,
                lives=mover.lives,
            )
            forced.append(each)
            until = each.evict_by
            dues.append(tried_until(deadline))
        else:
            dues.append(until)
        if mover.route.way is Way.AT_ONCE:
            steps.append(_go(group, mover, mover.route.reason, mover.route.message))
        elif mover.pod.uid in turn:
            message = f"its turn: {group.missing} of {group.replicas} are missing"
            fresh_steps.append(_go(group, mover, mover.route.reason, message))
        else:
            steps.append(_wait(group, mover, until))
    due = next_due(group.now, *dues)
    return Plan(steps=steps, fresh_steps=fresh_steps, forced=forced, due=due)


def _whose_turn(group: Group) -> set[str]:
    """The uids of the pods that go one after the other and whose turn it is.

    - pods that are not available cost nothing: all of them under a ration; of a StatefulSet, whose
      ordinals are made in order, the highest one;
    - rationed: as many available ones as maxUnavailable (at least one) leaves room for;
    - by ordinal: the highest ordinal, once all are available;
    - pods whose node dies before those under a hint;
    - under a hint: none once it has expired, nor while a budget counts the workload as in
      trouble.
    """
    held = budgets.hold_now(group.budgets) is not None
    movers = [
        mover
        for mover in group.movers
        if mover.route.way in (Way.RATIONED, Way.BY_ORDINAL)
        and (mover.deadline.forced or (group.now < mover.deadline.at and not held))
    ]
    if not movers:
        return set()
    by_ordinal = movers[0].route.way is Way.BY_ORDINAL
    most = 1 if by_ordinal else max(1, budgets.max_unavailable(group.owner.deployment))
    ordered = sorted(movers, key=_rank)
    broken = [mover.pod.uid for mover in ordered if not group.is_available(mover.pod)]
    if by_ordinal:
        broken = broken[:1]
        if broken:
            return set(broken)
    whole = [mover.pod.uid for mover in ordered if group.is_available(mover.pod)]
    return {*broken, *whole[: max(0, most - group.missing)]}


def _rank(mover: MovingPod) -> tuple[bool, datetime, int, str]:
    deadline, pod = mover.deadline, mover.pod
    return not deadline.forced, deadline.at, -ordinal_of(pod), pod.uid


def ordinal_of(pod: Pod) -> int:
    """The ordinal of a StatefulSet's pod, from its label or its name; 0 for other pods."""
    text = pod.metadata.labels.get(names.POD_INDEX) or pod.name.rpartition("-")[2]
    return int(text) if text.isdecimal() else 0


def _go(group: Group, mover: MovingPod, reason: Reason, message: str) -> Decision:
    return Decision.about(
        mover.pod,
        Verb.EVICT,
        reason,
        message,
        workload=group.owner.workload,
        warning=mover.route.warning,
        write=writes.evict(mover.pod),
    )


def _wait(group: Group, mover: MovingPod, until: datetime) -> Decision:
    return Decision.about(
        mover.pod,
        Verb.WAIT,
        mover.route.reason,
        mover.route.message,
        workload=group.owner.workload,
        until=until,
    )
