"""A move in the making: what all moves ask of a pod, and what is said and written of them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import Way, route
from evenkeel.decisions.restore import cooldown
from evenkeel.decisions.restore.room import Rooms
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import about, leave
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, PodDisruptionBudget
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.move import new_move
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Create, Operation, Patch, Write, as_read


class Moving(msgspec.Struct, frozen=True):
    """A workload of which pods have to go to ``target``, and the room that the plan left so far.

    ``may_wait``: a node may be asked for where none has room on spot.
    """

    case: Case
    target: Capacity
    snapshot: Snapshot
    rooms: Rooms
    may_wait: bool = False

    @property
    def elsewhere(self) -> Sequence[Pod]:
        """Its pods on the other capacity type."""
        fleet, other = self.snapshot.fleet, self.target.other
        return [pod for pod in self.case.owned if fleet.capacity(pod) is other]

    def stays(self, pod: Pod, owner: Owner, way: Way) -> Decision | None:
        """Why a pod does not go this way; None if it does."""
        found = route(pod, owner, self.case.namespace_objects, hint=True, now=self.snapshot.now)
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
        if self.target is Capacity.ON_DEMAND or is_held:
            return None
        where = f"Ready on on-demand nodes without {pod.name}"
        message = f"its floor of {standing.wanted} is not {where}"
        return leave(self.case, Reason.FLOOR_NOT_READY, message, verb=Verb.WAIT)

    def decide(
        self, verb: Verb, pod: Pod, write: Write, message: str, until: datetime | None = None
    ) -> Decision:
        """Move a pod by this write. ``message`` follows the reason of the move."""
        standing, is_missing = self.case.standing, self.target is Capacity.ON_DEMAND
        counts = f"{standing.on_demand} on on-demand, its floor is {standing.wanted}"
        return about(
            self.case,
            verb,
            Reason.FLOOR_MISSING if is_missing else Reason.ABOVE_FLOOR,
            f"to {self.target}: {counts} of {standing.replicas}; {message}",
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
            controller, pod.reference, self.target, now, until, without_room=without_room
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

    def note(self, pod: Pod, number: int = 1) -> Patch:
        """Note on the workload that so many of its pods are to move, this one first.

        0: it is no failure of the workload if none does.
        """
        return cooldown.note(self.case, pod.name, self.target, self.snapshot.now, number)
