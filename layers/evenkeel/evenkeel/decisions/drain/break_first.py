"""The ways that break before they make: rationed, at once, by ordinal, at the last moment."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.plan import Plan
from evenkeel.decisions.drain.refusal import kept_past_deadline, tried_until
from evenkeel.decisions.drain.route import Route, Way
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.times import next_due


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


def plan(census: Census, movers: Sequence[MovingPod]) -> Plan:
    """Decide about the ``movers``, which break before they make.

    Pods of nodes that die are evicted at their last moment, whatever the way; before that

    - at once: all go now, within their budgets;
    - rationed, by ordinal: see ``_whose_turn``;
    - at the last moment, and those that have to wait for a turn: they wait.
    """
    steps: list[Decision] = []
    fresh_steps: list[Decision] = []
    forced: list[Forced] = []
    dues = [census.next_available_at]
    turn = _whose_turn(census, movers)
    for mover in movers:
        pod, deadline = mover.pod, mover.deadline
        until = deadline.at
        if deadline.forced:
            left = kept_past_deadline(pod, census.owner, deadline, census.now)
            if left is not None:
                steps.append(left)
                continue
            left_share = census.left_without(len(forced) + 1)
            each = Forced(
                pod=pod,
                owner=census.owner,
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
            steps.append(_go(census, mover, mover.route.reason, mover.route.message))
        elif mover.pod.uid in turn:
            message = f"its turn: {census.missing} of {census.size} are missing"
            fresh_steps.append(_go(census, mover, mover.route.reason, message))
        else:
            steps.append(_wait(census, mover, until))
    due = next_due(census.now, *dues)
    return Plan(steps=steps, fresh_steps=fresh_steps, forced=forced, due=due)


def _whose_turn(census: Census, movers: Sequence[MovingPod]) -> set[str]:
    """The uids of the pods that go one after the other and whose turn it is.

    - pods that are not available cost nothing: all of them under a ration; of a StatefulSet, whose
      ordinals are made in order, the highest one;
    - rationed: as many available ones as maxUnavailable (at least one) leaves room for;
    - by ordinal: the highest ordinal, once all are available;
    - pods whose node dies before those under a hint;
    - under a hint: none once it has expired, nor while a budget counts the workload as in
      trouble.
    """
    held = budgets.hold_now(census.budgets) is not None
    going = [
        mover
        for mover in movers
        if mover.route.way in (Way.RATIONED, Way.BY_ORDINAL)
        and (mover.deadline.forced or (census.now < mover.deadline.at and not held))
    ]
    if not going:
        return set()
    by_ordinal = going[0].route.way is Way.BY_ORDINAL
    most = 1 if by_ordinal else max(1, budgets.max_unavailable(census.owner.deployment))
    ordered = sorted(going, key=_rank)
    broken = [mover.pod.uid for mover in ordered if not census.is_available(mover.pod)]
    if by_ordinal:
        broken = broken[:1]
        if broken:
            return set(broken)
    whole = [mover.pod.uid for mover in ordered if census.is_available(mover.pod)]
    return {*broken, *whole[: max(0, most - census.missing)]}


def _rank(mover: MovingPod) -> tuple[bool, datetime, int, str]:
    deadline, pod = mover.deadline, mover.pod
    return not deadline.forced, deadline.at, -ordinal_of(pod), pod.uid


def ordinal_of(pod: Pod) -> int:
    """The ordinal of a StatefulSet's pod, from its label or its name; 0 for other pods."""
    text = pod.metadata.labels.get(names.POD_INDEX) or pod.name.rpartition("-")[2]
    return int(text) if text.isdecimal() else 0


def _go(census: Census, mover: MovingPod, reason: Reason, message: str) -> Decision:
    return Decision.about(
        mover.pod,
        Verb.EVICT,
        reason,
        message,
        workload=census.owner.workload,
        warning=mover.route.warning,
        write=writes.evict(mover.pod),
    )


def _wait(census: Census, mover: MovingPod, until: datetime) -> Decision:
    return Decision.about(
        mover.pod,
        Verb.WAIT,
        mover.route.reason,
        mover.route.message,
        workload=census.owner.workload,
        until=until,
    )
