"""EC2's answers guessed from nodes, for clusters where AWS is not at hand.

An instance that has a node runs; one without has ended. It is spot where its node's labels say so.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from datetime import datetime

from evenkeel.decisions.notice.which_notice import OUTLIVED_AFTER
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows.reads import ask
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, InstanceAction, Notice
from evenkeel.model.request import List, Selection
from evenkeel.ports import Clock, Cluster
from evenkeel_sandbox.simulator.instances import lifecycle_of


class NodeInstances:
    """Implements the port Instances from the nodes of a cluster, and from replayed notices."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        cluster_name: str,
        *,
        labels: CapacityLabels = WELL_KNOWN,
        spot: Container[str] = (),
        reserved: Container[str] = (),
        notices: Sequence[Notice] = (),
    ) -> None:
        """``cluster_name`` goes into the tags, as if EC2 had them.

        ``labels`` tell which nodes are spot; the instances ``spot`` are, whatever they tell, and
        the instances ``reserved`` run in reserved capacity. An
        instance about whose end there are ``notices`` is ending until it has outlived them.
        """
        self._cluster = cluster
        self._clock = clock
        self._tags = {f"kubernetes.io/cluster/{cluster_name}": "owned"}
        self._labels = labels
        self._spot = spot
        self._reserved = reserved
        self._ends = [notice for notice in notices if notice.concerns is Concern.ENDING]

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """The instances among these that are a node now. Raises InstancesError."""
        try:
            nodes = ask(self._cluster, List(Selection(Node), fresh=False)).items
        except ClusterError as error:
            raise InstancesError(f"the nodes cannot be listed: {error}") from error
        now = self._clock.now()
        return {
            node.instance_id: Instance(
                instance_id=node.instance_id,
                state=self._state(node.instance_id, now),
                private_dns_name=node.name,
                tags=self._tags,
                reservation="cr-assumed" if node.instance_id in self._reserved else "",
                lifecycle=lifecycle_of(node, self._labels, is_spot=node.instance_id in self._spot),
            )
            for node in nodes
            if node.instance_id and node.instance_id in instance_ids
        }

    def _state(self, instance_id: str, now: datetime) -> str:
        for notice in self._ends:
            if notice.instance_id == instance_id and now < notice.deadline + OUTLIVED_AFTER:
                terminates = notice.action is InstanceAction.TERMINATE
                return "shutting-down" if terminates else "stopping"
        return "running"
