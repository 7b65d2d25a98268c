"""What an owner asks of where a workload's pods are, and where a move would make that worse.

This is asked before each move. The scheduler cannot be asked: it counts a spread over those nodes
alone that the pod may go to, and a pod that is moved may go to one capacity type.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

import msgspec

from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import liking
from evenkeel.model import names
from evenkeel.model.affinity import (
    DO_NOT_SCHEDULE,
    NewPodSpec,
    PreferredTerm,
    TopologySpread,
)
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision
from evenkeel.model.move import Domains
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import FORGOTTEN_AFTER

MOST_NAMED: Final = 3
"""So many domains are named at most in a sentence."""


class OwnWishes(msgspec.Struct, frozen=True, dict=True):
    """Those of a workload of which pods have to go to ``target``, as its template has them.

    ``to_pool``: a pod goes to another pool, for its owner's goal.
    """

    candidate: Candidate
    target: Capacity
    rooms: Rooms
    now: datetime
    to_pool: bool

    def against(self, pod: Pod) -> Decision | None:
        """Why a pod is not moved to the target at all, wherever there is room; None if it may be.

        - its template prefers nodes like its own to the same nodes on spot;
        - its template spreads its pods over the capacity types, and that would be worse.

        A floor that somebody asks for is about the same, and weighs more.
        """
        node = self._nodes[pod.spec.node_name]
        if self.target is Capacity.ON_DEMAND:
            return None
        if self._preferred and self._likes(self._on_spot(node)) < self._likes(node):
            message = "its template prefers on-demand"
            return self.candidate.leave(Reason.OWN_PREFERENCE, message)
        for spread in self._spreads:
            key = spread.topology_key
            if key in self._labels and self._uneven(spread, node):
                message = f"its template spreads its pods over {key}"
                return self.candidate.leave(Reason.OWN_SPREAD, message)
        return None

    def barred(self, pod: Pod) -> Domains:
        """Where the pod in the place of this one may not be, by the keys of node labels.

        - in no zone that has as many of its workload's pods as this one's;
        - on no node that has as many of them as the fullest had, see ``most``;
        - in no domain of its owner's spreads that has as many as this one's, if the skew was more
          than ``maxSkew`` then. A spread that is soft binds no floor that somebody asks for;
        - on no node that its template prefers less, but for such a floor.

        A pod that only goes where fewer are than where it was leaves no domain worse off than the
        worst one was, and no pod goes to and fro. The first two are what nobody has to ask for.
        They bind no move to another pool: its owner's goal says how many one may have.
        """
        node, found = self._nodes[pod.spec.node_name], defaultdict[str, set[str]](set)
        if not self.to_pool:
            zones = self._count(names.ZONE)
            full = {zone for zone in zones if node.zone and zones[zone] >= zones[node.zone]}
            found[names.ZONE] = full - {node.zone}
            found[names.HOSTNAME] = self._hosts(self._crowded())
        for spread in self._spreads:
            if spread.topology_key not in self._labels:
                found[spread.topology_key] |= self._uneven(spread, node)
        if self._preferred and self.target is Capacity.SPOT:
            least = self._likes(node)
            others = self.rooms.taking(self._rules, Capacity.SPOT)
            found[names.HOSTNAME] |= self._hosts([n for n in others if self._likes(n) < least])
        domains = {key: tuple(sorted(values - {""})) for key, values in found.items()}
        return {key: values for key, values in domains.items() if values}

    @property
    def _labels(self) -> Sequence[str]:
        return self.candidate.fleet.labels.keys

    @property
    def _nodes(self) -> Mapping[str, Node]:
        return self.candidate.fleet.nodes

    @cached_property
    def _rules(self) -> NewPodSpec:
        return self.candidate.rules()

    @cached_property
    def _preferred(self) -> Sequence[PreferredTerm]:
        return self.candidate.workload.spec.template.spec.node_affinity.preferred or ()

    @cached_property
    def _spreads(self) -> Sequence[TopologySpread]:
        """The spreads that bind: those that count pods, and of a floor the hard ones."""
        own = self.candidate.workload.spec.template.spec.topology_spread_constraints or ()
        is_floor = self.target is Capacity.ON_DEMAND
        return [
            each
            for each in own
            if each.label_selector is not None
            and (each.when_unsatisfiable == DO_NOT_SCHEDULE or not is_floor)
        ]

    @cached_property
    def _held(self) -> Mapping[str, int]:
        """How many of its pods are on each node that has any."""
        placed = (pod.spec.node_name for pod in self.candidate.owned)
        return Counter(name for name in placed if name in self._nodes)

    @cached_property
    def most(self) -> int:
        """How many of its pods the fullest node has, or had when the moves of today began.

        A workload that was packed on few nodes may be so on others: without the note, each move
        would leave less to the next.
        """
        last, there = self.candidate.last_move, max(self._held.values())
        if last is None or self.now >= last.at + FORGOTTEN_AFTER:
            return there
        return max(there, last.most)

    def _crowded(self) -> Sequence[Node]:
        """The nodes of the target that have as many of its pods as the fullest had.

        Of a floor also their share of it, over the on-demand nodes that take its pods: else it
        could not be held.
        """
        target, most = self.target, self.most
        if target is Capacity.ON_DEMAND:
            number = max(1, len(self.rooms.taking(self._rules, target)))
            most = max(most, -(-self.candidate.standing.wanted // number))
        capacities = self.candidate.fleet.capacities
        full = (name for name, number in self._held.items() if number >= most)
        return [self._nodes[name] for name in full if capacities.get(name) is target]

    def _count(self, key: str) -> Mapping[str, int]:
        """How many of its pods each domain of a label has, of those that have any."""
        found = Counter[str]()
        for name, number in self._held.items():
            found[self._nodes[name].metadata.labels.get(key, "")] += number
        return found

    def _uneven(self, spread: TopologySpread, node: Node) -> set[str]:
        """The domains of a spread that a pod of this node may not go to."""
        key = spread.topology_key
        could = (node for each in Capacity for node in self.rooms.taking(self._rules, each))
        empty = {each.metadata.labels.get(key, ""): 0 for each in could}
        there, own = {**empty, **self._count(key)}, node.metadata.labels.get(key, "")
        here = there[own]
        enough = spread.min_domains is None or len(there) >= spread.min_domains
        least = min({**there, own: here - 1}.values()) if enough else 0
        return {
            domain
            for domain, number in there.items()
            if domain != own and number >= here and number + 1 - least > spread.max_skew
        }

    def _likes(self, node: Node) -> int:
        return liking(self._preferred, node)

    def _on_spot(self, node: Node) -> Node:
        """The same node, if it were on spot."""
        labels = self.candidate.fleet.labels
        its = node.metadata.labels
        spot = {key: labels.spot_values(key)[0] for key in labels.keys if key in its}
        metadata = msgspec.structs.replace(node.metadata, labels={**its, **spot})
        return msgspec.structs.replace(node, metadata=metadata)

    def _hosts(self, nodes: Iterable[Node]) -> set[str]:
        return {node.metadata.labels.get(names.HOSTNAME, "") for node in nodes}


def told(domains: Domains) -> str:
    """Where a pod may not be, in words."""
    values = [value for each in domains.values() for value in each]
    more = len(values) - MOST_NAMED
    return ", ".join(values[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
