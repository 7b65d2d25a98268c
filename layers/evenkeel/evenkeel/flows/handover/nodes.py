"""The nodes' own part: who may be cordoned for a hint, and what becomes of each."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.notice import marks
from evenkeel.decisions.plan import earliest
from evenkeel.decisions.upkeep import node as upkeep
from evenkeel.decisions.upkeep.node import Situation
from evenkeel.decisions.upkeep.share import admitted
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows.asking import ask
from evenkeel.flows.handover import selections
from evenkeel.flows.handover.view import View
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster, Instances, Recorder
from evenkeel.settings import HandoverSettings

COUNT_AGAIN_AFTER = timedelta(minutes=1)
"""The spot nodes of a cluster are counted at most this often: it reads all its nodes."""

UNKNOWN_TO_EC2 = "terminated"
"""EC2 forgets an instance about an hour after its end."""


class SpotCount:
    """How many spot nodes there are. Outlives an invocation."""

    def __init__(self, cluster: Cluster) -> None:
        """Nothing is counted yet."""
        self._cluster = cluster
        self._count = 0
        self._counted_at: datetime | None = None

    def read(self, now: datetime) -> int:
        """The number of spot nodes, at most a minute old. Raises ClusterError."""
        if self._counted_at is None or now - self._counted_at >= COUNT_AGAIN_AFTER:
            listing = ask(self._cluster, List(Selection(Node), fresh=False, metadata_only=True))
            self._count = sum(node.is_spot for node in listing.items)
            self._counted_at = now
        return self._count


class NodeKeeper:
    """Decides about the doomed nodes of one invocation."""

    def __init__(
        self,
        settings: HandoverSettings,
        cluster: Cluster,
        instances: Instances,
        view: View,
        recorder: Recorder,
        spot_count: SpotCount,
    ) -> None:
        """All of them are the invocation's."""
        self._settings = settings
        self._cluster = cluster
        self._instances = instances
        self._view = view
        self._recorder = recorder
        self._spot_count = spot_count
        self._states: dict[str, str] = {}
        self._others_remain: bool | None = None

    def ask_about_overdue(self, now: datetime) -> None:
        """Ask EC2 about all nodes whose deadline has passed. No answer is an answer, too."""
        overdue = {
            node.instance_id: node.name
            for node in self._view.nodes.values()
            if node.instance_id
            and (notice := self._view.notices.get(node.name)) is not None
            and notice.deadline <= now
        }
        if not overdue:
            return
        try:
            found = self._instances.describe(overdue)
        except InstancesError as error:
            self._recorder.noted(f"EC2 cannot say what became of {len(overdue)} nodes: {error}")
            return
        for instance_id, node_name in overdue.items():
            instance = found.get(instance_id)
            self._states[node_name] = instance.state if instance else UNKNOWN_TO_EC2

    def cordons(self, now: datetime) -> Sequence[Decision]:
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
        try:
            spot_nodes = self._spot_count.read(now)
        except ClusterError as error:
            self._recorder.noted(f"the spot nodes cannot be counted, none is cordoned: {error}")
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

    def plan(
        self, handovers: frozenset[str], ordinals: frozenset[str], now: datetime
    ) -> tuple[Sequence[Decision], datetime | None]:
        """Decide about every marked node; and when that changes though nothing else does.

        ``handovers`` and ``ordinals`` name the nodes that still have pods of these kinds.
        """
        steps: list[Decision] = []
        dues: list[datetime | None] = []
        for node in list(self._view.nodes.values()):
            notice = self._view.notices.get(node.name)
            if notice is None:
                continue
            situation = Situation(
                now=now,
                node=node,
                notice=notice,
                state=self._states.get(node.name),
                handovers_left=node.name in handovers,
                ordinals_left=node.name in ordinals,
                load_balancer_lead=self._settings.load_balancer_lead,
                do_out_of_service=self._settings.do_out_of_service,
                others_remain=self._others_remain,
            )
            if situation.wants_exclusion and self._others_remain is None:
                self._look_for_others()
                situation = msgspec.structs.replace(situation, others_remain=self._others_remain)
            decisions, due = upkeep.plan(situation)
            steps.extend(decisions)
            dues.append(due)
        return steps, earliest(*dues)

    def _look_for_others(self) -> None:
        try:
            listing = ask(self._cluster, List(selections.OTHER_NODES, limit=10))
        except ClusterError as error:
            self._recorder.noted(f"nobody knows what load balancers would keep: {error}")
            return
        self._others_remain = any(node.ready for node in listing.items)
