"""Nodes: which are marked, which are gone, and what else was read of them."""

from collections.abc import Callable, Mapping
from datetime import datetime

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.notice import mark
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pool import Pool


class MarkedNodes:
    """Marked nodes by name, each at its highest resource version, and their notices.

    A node is drained once it is cordoned for its notice.
    """

    def __init__(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        pools: dict[str, Pool | None] | None = None,
        changed: Callable[[str, bool], None] = lambda _name, _plans: None,
    ) -> None:
        """``assumed`` are notices that no node carries, by node name: observe mode's.

        ``pools``: in which pool nodes are, None: on-demand, as far as it was read before.
        ``changed`` is called with the name of a node whose mark or spec has changed, and with
        whether the plans for its pods may change by it.
        """
        self._assumed = dict(assumed or {})
        self._changed = changed
        self.marked: dict[str, Node] = {}
        self.warned: dict[str, Node] = {}
        """All that were seen with a warning, also those that are gone."""
        self.notices: Mapping[str, NodeNotice] = self._assumed
        """All open ones, by node name."""
        self.dooms: Mapping[str, NodeNotice] = self._assumed
        """Those of nodes that are drained."""
        self.pools = {} if pools is None else pools
        self.kept_empty: dict[str, bool] = {}
        self.left: dict[str, bool] = {}
        """Whether a zone has another node, as far as that was read."""
        self.zones: Mapping[str, str] = {}
        self.seated: dict[str, Node] = {}
        """Nodes with seats, and nodes that are held, as they were read last."""
        self.lost = frozenset[str]()

    def update(self, node: Node) -> None:
        """Take a version of a marked node, if it is newer."""
        known = self.marked.get(node.name)
        if known is None or known.uid != node.uid or known.revision < node.revision:
            self.marked[node.name] = node
            self.lost -= {node.name}
            self._read_notice(node.name, node, known)

    def delete(self, name: str) -> bool:
        """A node is gone, or not marked any more; whether it was."""
        known = self.marked.pop(name, None)
        if known is not None:
            self._read_notice(name, None, known)
        return known is not None

    def lose(self, name: str) -> None:
        """A node is gone for good."""
        self.delete(name)
        self.lost |= {name}

    def read(self, name: str, pool: Pool | None, *, kept_empty: bool) -> None:
        """A node was read by itself, marked or not."""
        self.pools[name] = pool
        self.kept_empty[name] = kept_empty

    def seat(self, node: Node, *, is_new: bool = False) -> bool:
        """Take a version of a node with a seat; whether it is newer. ``is_new``: it has one now."""
        known = self.seated.get(node.name)
        if known is None and not is_new:
            return False
        if known is not None and known.uid == node.uid and known.revision >= node.revision:
            return False
        self.seated[node.name] = node
        return True

    def known(self) -> Nodes:
        """What plans have to know of nodes."""
        return Nodes(
            dooms=self.dooms,
            lost=self.lost,
            pools=self.pools,
            kept_empty=self.kept_empty,
            zones=self.zones,
            left=self.left,
            seated=self.seated,
        )

    def _read_notice(self, name: str, node: Node | None, known: Node | None) -> None:
        """Take a node's notice into ``notices``, and into ``dooms`` if it is drained.

        ``known``: how the node was before.
        """
        before = _of_plans(self.dooms.get(name), known)
        read = mark.read(node) if node is not None else None
        is_drained = read is not None and read.cordoned_at is not None
        if node is not None and read is not None and read.kind.is_warning:
            self.warned[name] = node
        assumed = self._assumed.get(name)
        self.notices = _but(self.notices, name, read or assumed)
        self.dooms = _but(self.dooms, name, read if is_drained else assumed)
        self.zones = _but(self.zones, name, node.zone if node is not None else None)
        self._changed(name, _of_plans(self.dooms.get(name), node) != before)


def _but[T](of_nodes: Mapping[str, T], name: str, its: T | None) -> Mapping[str, T]:
    """A copy of what is known of nodes, with one node's replaced, or removed if it is None."""
    others = {key: value for key, value in of_nodes.items() if key != name}
    return others if its is None else {**others, name: its}


def _of_plans(
    notice: NodeNotice | None, node: Node | None
) -> tuple[Deadline, datetime | None, bool] | None:
    """What the plans for a node's pods depend on: their deadline, and what keeps new pods off."""
    if notice is None:
        return None
    is_cordoned = node is not None and node.spec.unschedulable
    return node_deadline(notice), notice.cordoned_at, is_cordoned
