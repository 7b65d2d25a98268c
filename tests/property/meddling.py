"""Who else is in a scene, and what they do: policies, adopters, operators."""

from collections.abc import Callable
from typing import Final

from evenkeel_sandbox.simulator.api.objects import Obj, key_of
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit import others
from tests.kit.manifests import resource
from tests.property import manifests
from tests.property.hands import Cause, Hands
from tests.property.scenes import Disturbance, Kind, Trouble, WorkloadPlan

MEDDLING: Final = frozenset({Trouble.CORDON, Trouble.UNCORDON, Trouble.DENY, Trouble.END_POLICIES})


class Meddling:
    """Adds others to a simulated cluster, and lets them act.

    ``cordons``: which nodes an operator has cordoned last, and which uncordoned.
    """

    def __init__(self, cluster: SimulatedCluster, hands: Hands) -> None:
        self._cluster = cluster
        self._hands = hands
        self._ends: list[Callable[[], None]] = []
        self.cordons: dict[str, bool] = {}

    def add(self, name: str, plan: WorkloadPlan) -> None:
        """Who else is there from the beginning, with this workload."""

        def concerns(old: Obj, new: Obj) -> bool:
            return key_of(new)[0] == name and others.is_release(old, new)

        if plan.kind is Kind.DATABASE:
            self._cluster.apply(resource("Namespace", name))
            pods = manifests.pods_of(plan)
            others.DatabaseOperator(self._cluster, name, plan.replicas, name, **pods)
        if plan.adopter:
            self._cluster.apply(manifests.other(name, plan))
        if plan.refused:
            self._ends.append(others.refuse(self._cluster, plan.refused, concerns))
        if plan.undone:
            self._ends.append(others.undo(self._cluster, *plan.undone, concerns=concerns))

    def act(self, disturbance: Disturbance) -> None:
        """One of the troubles that are theirs."""
        with self._hands.on_account_of(Cause.OTHERS):
            match disturbance.trouble:
                case Trouble.DENY:
                    self._ends.append(others.deny_evictions(self._cluster, disturbance.number))
                case Trouble.END_POLICIES:
                    while self._ends:
                        self._ends.pop()()
                case trouble:
                    self._cordon(disturbance.number, cordoned=trouble is Trouble.CORDON)

    def _cordon(self, number: int, *, cordoned: bool) -> None:
        """An operator does as kubectl does, which sends nothing where there is nothing to do."""
        nodes = self._cluster.objects("Node")
        node = nodes[number % len(nodes)]["metadata"]["name"] if nodes else ""
        if node and others.cordon(self._cluster, node, cordoned=cordoned):
            self.cordons[node] = cordoned
