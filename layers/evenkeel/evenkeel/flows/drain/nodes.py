"""The nodes' own part: which may be drained for a hint, and what becomes of each."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

import msgspec

from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS
from evenkeel.decisions.drain.returning import Drain, why_back
from evenkeel.decisions.node import doomed_node
from evenkeel.decisions.node.doomed_node import DoomedNode
from evenkeel.decisions.node.share import SOONEST, admitted
from evenkeel.decisions.notice import kinds, mark
from evenkeel.flows.drain import seats
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.memory import Memory
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.model.controllers.kinds import way_of
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.hook import Termination
from evenkeel.model.node import Node
from evenkeel.model.node_bound import is_of_node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.times import earliest
from evenkeel.model.way import Way
from evenkeel.ports import Background, Clock
from evenkeel.settings import HandoverSettings

ASK_OFTEN_FOR = timedelta(minutes=2)
"""So long after a deadline EC2 is asked often. Later the schedule's turns are enough, except where
EC2 does not list an instance."""

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""How long until the next try when it was not known what load balancers would keep."""


class NodeReconciler:
    """Decides about the doomed nodes of one invocation."""

    def __init__(
        self,
        settings: HandoverSettings,
        view: View,
        memory: Memory,
        background: Background,
        clock: Clock,
    ) -> None:
        """Answers that ``kept`` lacks are asked for in the background."""
        self._settings = settings
        self._view = view
        self._memory = memory
        self.questions = Questions(background, clock, partial(view.queue.add, [NODES], urgent=True))
        """What is asked that the nodes are decided by."""

    @property
    def _marked(self) -> Sequence[tuple[Node, NodeNotice]]:
        """The marked nodes, but for those whose notice was spoilt."""
        nodes, notices = self._view.nodes.marked, self._view.nodes.notices
        return [(nodes[name], notices[name]) for name in nodes if name in notices]

    def _drains(self, now: datetime) -> Sequence[Decision]:
        """The nodes that are drained for hints from now on, because the share allows it."""
        notices = self._view.nodes.notices
        hinted = [
            (node, notice)
            for node, notice in self._marked
            if notice.is_hint
            and notice.kind is not NoticeKind.DRAIN
            and now < notice.deadline <= now + SOONEST
        ]
        if all(notice.cordoned_at is not None for _, notice in hinted):
            return ()
        known = self._memory.spot_nodes.known(now, self.questions)
        if known is None:
            return ()
        spot_nodes, share = len(known), self._settings.rebalance_share
        return [
            Decision.about(
                node,
                Verb.DRAIN,
                kinds.wording_of(notices[node.name]).reason,
                f"tainted, within the {share:.0%} of {spot_nodes} spot nodes that hints may have",
                until=notices[node.name].deadline,
                write=mark.drain(node, now),
            )
            for node in admitted(hinted, spot_nodes, share)
        ]

    def plan(self, plans: Plans, now: datetime) -> Sequence[Decision]:
        """Decide about every marked node. ``plans`` say which pods are handed over.

        In a divided storm number 0 alone decides about nodes. Of other reconcilers' pods, and of
        those that were not read yet, it is only known that there are some.
        """
        if self._view.share.number:
            return ()
        others_on = self._view.share.others_on
        unknown = others_on | self._view.candidates.unread
        self._ask_about_overdue(now)
        situations = list(self._situations(unknown, now))
        off = {situation.node.name for situation in situations if situation.is_off}
        hanging = {*self._with_volumes(off), *(off & others_on)}
        waiting = self._terminations()
        landing = self._landing(now)
        emptying = {each.node.name for each in situations if each.pods_left}
        self._view.await_pods_on(
            frozenset(off | {node.name for node, *_ in waiting}), landing, emptying
        )
        remain = self._others_remain(situations, now)
        steps, dues = list[Decision](), list[datetime | None]()
        for situation in situations:
            decisions, due = doomed_node.plan(
                msgspec.structs.replace(
                    situation,
                    others_remain=remain,
                    volumes_left=situation.node.name in hanging,
                )
            )
            steps.extend(decisions)
            dues.append(due)
            if situation.wants_exclusion and remain is None:
                dues.append(now + LOOK_AGAIN_AFTER)
            often = situation.is_missing or now < situation.notice.deadline + ASK_OFTEN_FOR
            if situation.over and not situation.is_off and often:
                dues.append(self._memory.states.ask_again_at)
        waited_for = {node.name for node, *_ in waiting}
        empty, empty_at = self._emptied(waited_for, unknown, plans, now)
        ends, due = self._memory.hooks.keep(waiting, empty, now, self.questions)
        dues += [due, empty_at, now + SOON_AGAIN_AFTER if landing else None]
        self._view.queue.again(NODES, earliest(*dues))
        return [
            *self._drains(now),
            *self._unreadable(),
            *steps,
            *ends,
            *seats.freed(plans, self._view, now),
            *seats.nodes(plans, self._view),
        ]

    def _landing(self, now: datetime) -> frozenset[str]:
        """The nodes that die yet, if pods that no watch shows may come to them from others."""
        if not self._view.do_pods_return:
            return frozenset()
        dying = ((node, notice) for node, notice in self._marked if not notice.is_hint)
        return frozenset(node.name for node, notice in dying if now < notice.deadline)

    def _situations(self, unknown: Collection[str], now: datetime) -> Iterator[DoomedNode]:
        """What is known of every node with a notice, but for volumes and for load balancers.

        ``unknown`` names those that may have pods of which nothing is known. A node past its
        deadline is skipped while EC2's answer about its instance is pending.
        """
        states = self._memory.states
        for node, notice in self._marked:
            instance_id = mark.instance_of(node, notice)
            situation = DoomedNode(
                now=now,
                node=node,
                notice=notice,
                state=states.of(instance_id, now),
                heard_at=states.heard_at or now,
                pods_left=node.name in unknown or self._view.pods.are_to_go_from(node.name),
                do_out_of_service=self._settings.do_out_of_service,
            )
            if not (situation.over and states.is_awaited(instance_id, now)):
                yield situation

    def _unreadable(self) -> Iterator[Decision]:
        """What becomes of nodes whose notice was spoilt."""
        notices = self._view.nodes.notices
        spoilt = (node for node in self._view.nodes.marked.values() if node.name not in notices)
        return map(doomed_node.unreadable, spoilt)

    def _others_remain(self, situations: Iterable[DoomedNode], now: datetime) -> bool | None:
        """Whether load balancers would keep another node; None also if no decision needs it."""
        if not any(situation.wants_exclusion for situation in situations):
            return None
        marked = self._view.nodes.marked.keys()
        ready = self._memory.other_nodes.known(now, self.questions, but=marked)
        return None if ready is None else bool(ready)

    def _ask_about_overdue(self, now: datetime) -> None:
        """Ask EC2 about all nodes whose deadline has passed."""
        overdue = (mark.instance_of(*each) for each in self._marked if each[1].deadline <= now)
        self._memory.states.refresh(filter(None, overdue), now, self.questions)

    def _terminations(self) -> Sequence[tuple[Node, NodeNotice, Termination]]:
        """The nodes whose Auto Scaling groups wait for them."""
        hook_of = self._memory.hooks.of
        found = ((node, notice, hook_of(node, notice)) for node, notice in self._marked)
        return [(node, notice, each) for node, notice, each in found if each is not None]

    def _emptied(
        self, node_names: Collection[str], unknown: Collection[str], plans: Plans, now: datetime
    ) -> tuple[Collection[str], datetime | None]:
        """Those of these nodes of which every pod has gone that does not belong to its node.

        One that would come back keeps no node from being empty, unless it is on its way out, or
        handed over.
        And when the next of their pods has to be gone, because no plan changes when it goes: a few
        seconds after its grace period. A pod that the kubelet has not deleted when the instance
        ends stays in the API for a minute, and its ordinal and its volume with it. A pod whose
        eviction was sent ends as if it had been told now, until a watch shows when.
        """
        occupied, pods = set(unknown), self._view.pods
        ends = list[datetime]()
        for pod in chain.from_iterable(map(pods.on, node_names)):
            if pod.finished or is_of_node(pod):
                continue
            end = pod.ends_at
            if end is None and pods.is_assumed_evicted(pod.uid):
                end = now + pod.grace
            if end is None and self._comes_back(pod) and not plans.hand_over(pod):
                continue
            if end is None or now < end + A_FEW_SECONDS:
                occupied.add(pod.spec.node_name)
                ends += [] if end is None else [end + A_FEW_SECONDS]
        return set(node_names) - occupied, min(ends, default=None)

    def _comes_back(self, pod: Pod) -> bool:
        """Whether another would be there as soon as a pod had left."""
        name = pod.spec.node_name
        drain = Drain.of(self._view.nodes.notices[name], self._view.nodes.marked.get(name))
        return bool(why_back(pod, self._view.owners.of(pod), drain))

    def _with_volumes(self, node_names: Collection[str]) -> Collection[str]:
        """Those of these nodes with pods that keep something, also pods stuck terminating."""
        pods = chain.from_iterable(map(self._view.pods.on, node_names))
        return {pod.spec.node_name for pod in pods if _keeps_something(pod)}


def _keeps_something(pod: Pod) -> bool:
    """Whether a pod's controller makes another that has to wait for its volume or its ordinal."""
    owner = pod.controller
    if owner is None or pod.finished or is_of_node(pod):
        return False
    return bool(pod.spec.claims) or way_of(owner.full_kind) is Way.BY_ORDINAL
