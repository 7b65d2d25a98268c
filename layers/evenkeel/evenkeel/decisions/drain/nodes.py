"""What is known of the nodes that pods are on."""

from collections.abc import Mapping

import msgspec

from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool


class Nodes(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of nodes, by name, as far as it was read.

    - ``dooms``: the open notices of those that are drained.
    - ``lost``: those that are gone, though the API may still list their pods as running.
    - ``pools``: in which pool a node is; None for an on-demand node.
    - ``kept_empty``: whether anybody drains a node.
    - ``seated``: nodes with seats, as they were read last.
    - ``zones``: the zone of each marked node; ``left``: whether a zone has another node.
    """

    dooms: Mapping[str, NodeNotice] = {}
    lost: frozenset[str] = frozenset()
    pools: Mapping[str, Pool | None] = {}
    kept_empty: Mapping[str, bool] = {}
    zones: Mapping[str, str] = {}
    left: Mapping[str, bool] = {}
    seated: Mapping[str, Node] = {}

    def is_lost(self, pod: Pod) -> bool:
        """Whether the pod went with its node, although its status does not say so yet."""
        return pod.spec.node_name in self.lost

    def is_doomed(self, pod: Pod) -> bool:
        """Whether the pod runs on a node that is drained."""
        return pod.spec.node_name in self.dooms

    def is_alone(self, pod: Pod) -> bool:
        """Whether the zone of the pod's node is known to have no other node."""
        return not self.left.get(self.zones.get(pod.spec.node_name, ""), True)
