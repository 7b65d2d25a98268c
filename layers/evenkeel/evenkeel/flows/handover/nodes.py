"""The nodes' own part: who may be cordoned for a hint, and what becomes of each."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.notice import marks
from evenkeel.decisions.plan import earliest
from evenkeel.decisions.upkeep import node as upkeep
from evenkeel.decisions.upkeep.node import Situation
from evenkeel.decisions.upkeep.share import admitted
from evenkeel.errors import ClusterError
from evenkeel.flows.asking import ask
from evenkeel.flows.handover import selections
from evenkeel.flows.handover.knowledge import InstanceStates, SpotCount
from evenkeel.flows.handover.pods import kind_of
from evenkeel.flows.handover.view import View
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.request import List
from evenkeel.ports import Cluster, Recorder
from evenkeel.settings import HandoverSettings

ASK_OFTEN_FOR = timedelta(minutes=2)
"""So long after a deadline EC2 is asked often; later the schedule's turns are enough."""

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest when nobody could say what load balancers would keep."""


class Others(msgspec.Struct, frozen=True):
    """Some Ready nodes that load balancers would keep, by name; None: nobody knows."""

    ready: frozenset[str] | None
    good_until: datetime

    def remain(self, marked: Collection[str]) -> bool | None:
        """Whether one of them is not among the marked; None: unknown."""
        return None if self.ready is None else not self.ready.issubset(marked)


class NodeKeeper:
    """Decides about the doomed nodes of one invocation.

    ``steps`` are what was decided last, ``due`` is when that changes though nothing else does.
    """

    def __init__(
        self,
        settings: HandoverSettings,
        cluster: Cluster,
        view: View,
        recorder: Recorder,
        states: InstanceStates,
        spot_count: SpotCount,
    ) -> None:
        """The last two outlive the invocation."""
        self._settings = settings
        self._cluster = cluster
        self._view = view
        self._recorder = recorder
        self._states = states
        self._spot_count = spot_count
        self._others: Others | None = None
        self._handovers: frozenset[str] = frozenset()
        self._hangs_on_pods = False
        self.steps: Sequence[Decision] = ()
        self.due: datetime | None = None

    def is_stale(self, now: datetime, handovers: frozenset[str], *, news: bool) -> bool:
        """Whether something happened that the last plan depends on.

        ``handovers`` as in ``plan``; ``news``: whether there are some of pods.
        """
        is_due = self.due is not None and self.due <= now
        have_moved = handovers != self._handovers or (news and self._hangs_on_pods)
        return self._view.nodes_changed or is_due or have_moved

    def _cordons(self, now: datetime) -> Sequence[Decision]:
        """The cordons for rebalance recommendations that the share allows now."""
        notices = self._view.notices
        hinted = [
            (node, notices[node.name])
            for node in self._view.nodes.values()
            if node.name in notices
            and notices[node.name].is_hint
            and notices[node.name].deadline > now
        ]
        if all(notice.cordoned_at is not None for _, notice in hinted):
            return ()
        spot_nodes = self._spot_count.read(now)
        if spot_nodes is None:
            return ()
        share = self._settings.rebalance_share
        return [
            Decision(
                verb=Verb.CORDON,
                subject=node.reference,
                node=node.name,
                reason="RebalanceRecommendation",
                message=f"within the {share:.0%} of {spot_nodes} spot nodes that hints may have",
                until=notices[node.name].deadline,
                write=marks.cordon(node, now),
            )
            for node in admitted(hinted, spot_nodes, share)
        ]

    def plan(self, handovers: frozenset[str], now: datetime) -> None:
        """Decide about every marked node.

        ``handovers`` names the nodes that still have pods which go by handover, or may have.
        """
        self._handovers = handovers
        self._ask_about_overdue(now)
        off = {
            node.name
            for node in self._view.nodes.values()
            if node.name in self._view.notices
            and self._states.of(node.instance_id, now) in upkeep.OFF
        }
        self._hangs_on_pods = bool(off)
        have_ordinals = self._with_ordinals(off)
        steps = [*self._cordons(now)]
        dues: list[datetime | None] = []
        for node in list(self._view.nodes.values()):
            notice = self._view.notices.get(node.name)
            if notice is None:
                steps.append(upkeep.unreadable(node))
                continue
            situation = Situation(
                now=now,
                node=node,
                notice=notice,
                state=self._states.of(node.instance_id, now),
                handovers_left=node.name in handovers,
                ordinals_left=node.name in have_ordinals,
                load_balancer_lead=self._settings.load_balancer_lead,
                do_out_of_service=self._settings.do_out_of_service,
            )
            if situation.wants_exclusion:
                remain = self._others_remain(now)
                situation = msgspec.structs.replace(situation, others_remain=remain)
            decisions, due = upkeep.plan(situation)
            steps.extend(decisions)
            dues.append(due)
            if situation.wants_exclusion and situation.others_remain is None:
                dues.append(now + LOOK_AGAIN_AFTER)
            if situation.over and node.name not in off and now < notice.deadline + ASK_OFTEN_FOR:
                dues.append(self._states.ask_again_at)
        self.steps, self.due = steps, earliest(*dues)

    def _ask_about_overdue(self, now: datetime) -> None:
        """Ask EC2 about all nodes whose deadline has passed.

        More rarely while other nodes are still to be drained: an EC2 that does not answer
        must not keep their pods from their last moments.
        """
        notices = [self._view.notices.get(node.name) for node in self._view.nodes.values()]
        overdue = [
            node.instance_id
            for node, notice in zip(self._view.nodes.values(), notices, strict=True)
            if notice is not None and notice.deadline <= now
        ]
        is_busy = any(n is not None and not n.is_hint and n.deadline > now for n in notices)
        self._states.refresh(filter(None, overdue), now, is_busy=is_busy)

    def _with_ordinals(self, node_names: Collection[str]) -> Collection[str]:
        """Those of these nodes with a StatefulSet's pods, also such that hang in their end."""
        if not node_names:
            return ()
        return {
            pod.spec.node_name
            for pod in self._view.pods
            if pod.spec.node_name in node_names
            and not pod.finished
            and pod.controller is not None
            and kind_of(pod.controller) == "StatefulSet"
        }

    def _others_remain(self, now: datetime) -> bool | None:
        """Whether load balancers would keep another node; None if nobody can say."""
        marked, known = self._view.nodes.keys(), self._others
        if known is None or now >= known.good_until or (known.ready and not known.remain(marked)):
            self._others = known = self._read_others(now)
        return known.remain(marked)

    def _read_others(self, now: datetime) -> Others:
        try:
            listing = ask(self._cluster, List(selections.OTHER_NODES, limit=10))
        except ClusterError as error:
            self._recorder.noted(f"nobody knows what load balancers would keep: {error}")
            return Others(None, now + LOOK_AGAIN_AFTER)
        ready = frozenset(node.name for node in listing.items if node.ready)
        return Others(ready, now + LOOK_AGAIN_AFTER)
