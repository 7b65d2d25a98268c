"""EC2's answers guessed from nodes, for clusters where AWS is not at hand.

An instance that has a node runs; one without has ended.
"""

from collections.abc import Collection, Mapping

from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows.asking import ask
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster, Instance


class NodeInstances:
    """Implements the port Instances from the nodes of a cluster."""

    def __init__(self, cluster: Cluster, cluster_name: str) -> None:
        """``cluster_name`` goes into the tags, as if EC2 had them."""
        self._cluster = cluster
        self._tags = {f"kubernetes.io/cluster/{cluster_name}": "owned"}

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """The instances among these that are a node now. Raises InstancesError."""
        try:
            nodes = ask(self._cluster, List(Selection(Node), fresh=False)).items
        except ClusterError as error:
            raise InstancesError(f"the nodes cannot be listed: {error}") from error
        return {
            node.instance_id: Instance(
                instance_id=node.instance_id,
                state="running",
                private_dns_name=node.name,
                tags=self._tags,
            )
            for node in nodes
            if node.instance_id and node.instance_id in instance_ids
        }
