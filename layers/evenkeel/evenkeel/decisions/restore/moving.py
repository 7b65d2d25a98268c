"""A move in the making: what all moves ask of a pod, and what is said and written of them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.returning import MOVE
from evenkeel.decisions.drain.route import route_of
from evenkeel.decisions.placement.clauses import only_spot
from evenkeel.decisions.placement.own_rules import rules_of
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore import cooldown
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import about, leave
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import NodeRequest
from evenkeel.model.affinity import NewPodSpec, NodeSelector, NodeSelectorTerm
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, PodDisruptionBudget
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.move import new_move
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Create, Operation, Patch, Write, as_read
from evenkeel.model.way import Way


class Moving(msgspec.Struct, frozen=True):
    """A workload of which pods have to go to ``target``, and the room that the plan left so far.

    ``may_wait``: a node may be asked for where none has room on spot. ``avoid``: the full pools,
    the fullest first, where a pod of that one goes to another pool.
    """

    case: Case
    target: Capacity
    snapshot: Snapshot
    rooms: Rooms
    may_wait: bool
    avoid: tuple[Pool, ...]

    @property
    def candidates(self) -> Sequence[Pod]:
        """Its pods on the other capacity type, or in the fullest of the pools to avoid."""
        fleet, other = self.snapshot.fleet, self.target.other
        if self.avoid:
            pools, fullest = fleet.pools, self.avoid[0]
            return [pod for pod in self.case.owned if pools.get(pod.spec.node_name) == fullest]
        return [pod for pod in self.case.owned if fleet.capacity(pod) is other]

    @property
    def rules(self) -> Sequence[NewPodSpec]:
        """The own rules of its pods that could go; without any those of its template."""
        fleet = self.snapshot.fleet
        found = [self.case.request(pod, fleet).rules for pod in self.candidates]
        return found or [self.case.workload.spec.template.spec]

    def request(self, pod: Pod) -> NodeRequest:
        """What a pod's replacement asks of its node, besides what placement has it ask."""
        found = self.case.request(pod, self.snapshot.fleet)
        if not self.avoid:
            return found
        own = found.rules
        required = NodeSelector(node_selector_terms=self.terms(own))
        rules = rules_of(own.node_selector, required, own.tolerations)
        return msgspec.structs.replace(found, rules=rules)

    def terms(self, own: NewPodSpec) -> tuple[NodeSelectorTerm, ...]:
        """The terms of the affinity of what goes to another pool, by its own rules."""
        return only_spot(own.node_affinity.required, self.snapshot.fleet.labels, self.avoid)

    def stays(self, pod: Pod, owner: Owner, way: Way) -> Decision | None:
        """Why a pod does not go this way, or may not go to the target; None if it does."""
        fleet = self.snapshot.fleet
        if fleet.is_elsewhere(pod):
            message = f"{pod.name} is on a node that no EC2 instance runs: no notice is about it"
            return leave(self.case, Reason.NOT_ON_EC2, message)
        if self.target not in allowed_by(self.case.request(pod, fleet).rules, fleet.labels):
            return leave(self.case, Reason.OWN_RULES, f"its own rules exclude {self.target}")
        found = route_of(pod, owner, self.case.namespace_objects, MOVE, self.snapshot.now)
        if found.way is way:
            return None
        return leave(self.case, found.reason, found.message, until=found.until)

    def held_by(self, budget: PodDisruptionBudget | None) -> Decision | None:
        """Why a pod stays that this budget holds; None without one."""
        if budget is None:
            return None
        return leave(self.case, Reason.BUDGET_HOLDS, f"{budget.reference} leaves no room")

    def floor_needs(self, pod: Pod) -> Decision | None:
        """Why a pod stays on on-demand nodes: the floor would not be Ready there without it."""
        standing = self.case.standing
        is_held = standing.survivors - pod.ready >= standing.wanted
        if self.target is Capacity.ON_DEMAND or self.avoid or is_held:
            return None
        where = f"Ready on on-demand nodes without {pod.name}"
        message = f"its floor of {standing.wanted} is not {where}"
        return leave(self.case, Reason.FLOOR_NOT_READY, message, verb=Verb.WAIT)

    def decide(
        self, verb: Verb, pod: Pod, write: Write, message: str, until: datetime | None = None
    ) -> Decision:
        """Move a pod by this write. ``message`` follows the reason of the move."""
        standing, reason = self.case.standing, Reason.ABOVE_FLOOR
        counts = f"{standing.on_demand} on on-demand, its floor is {standing.wanted}"
        why = f"to {self.target}: {counts} of {standing.replicas}"
        if self.target is Capacity.ON_DEMAND:
            reason = Reason.FLOOR_MISSING
        elif self.avoid:
            reason = Reason.POOL_TOO_FULL
            why = f"to another pool: {self.avoid[0]} is to have {self.case.goal} at most"
        return about(
            self.case,
            verb,
            reason,
            f"{why}; {message}",
            pod=pod,
            write=write,
            until=until,
        )

    def announce(
        self, controller: Reference, pod: Pod, until: datetime, *, without_room: bool = False
    ) -> Write:
        """Tell the webhook of a move; of two runs that do it at once one is refused."""
        now = self.snapshot.now
        lease = new_move(
            controller,
            pod.reference,
            self.target,
            now,
            until,
            without_room=without_room,
            avoid=self.avoid,
        )
        last = self.case.moves.get(controller.uid)
        if last is None:
            return Create(lease)
        there = last.lease
        operations: Sequence[Operation] = (
            *as_read(there),
            Operation("add", "/metadata/annotations", lease.metadata.annotations),
            Operation("add", "/spec", msgspec.to_builtins(lease.spec)),
        )
        return Patch(kind=Lease, name=there.name, namespace=there.namespace, body=operations)

    def note(self, pod: Pod, number: int) -> Patch:
        """Note on the workload that so many of its pods are to move, this one first.

        0: it is no failure of the workload if none does.
        """
        return cooldown.note(self.case, pod.name, self.target, self.snapshot.now, number)
