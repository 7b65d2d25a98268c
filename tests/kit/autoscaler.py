"""An autoscaler of spot nodes in a scene: it makes one for pods that wait for spot."""

from datetime import timedelta
from typing import Any, Final

from evenkeel.model import names
from evenkeel_sandbox.simulator.event_source import SimulatedSchedule
from tests.kit.restoring import RestoreScene

LOOKS: Final = timedelta(seconds=10)


class Autoscaler:
    """Makes spot nodes ``a0``, ``a1`` ..., one after the other, while EC2 has ``supply``.

    A node comes so many seconds ``late`` after the first pod was seen that waits for one, also if
    that pod is gone by then. It has ``room``, in cores, and pods ask for 0.1 of one.
    """

    def __init__(
        self, scene: RestoreScene, *, late: float = 90, room: str = "1", supply: bool = True
    ) -> None:
        self.supply = supply
        self.made: list[str] = []
        self.waiting: list[int] = []
        self._scene, self._late, self._room = scene, late, room
        self._due: float | None = None
        SimulatedSchedule(scene.clock, self._look, every=LOOKS)

    @property
    def most_at_once(self) -> int:
        """How many pods waited for spot at once at most."""
        return max(self.waiting, default=0)

    def _look(self, _event: dict[str, Any], _context: object) -> dict[str, Any]:
        scene = self._scene
        waiting = sum(
            "nodeName" not in pod["spec"] and requires_spot(pod)
            for pod in scene.cluster.objects("Pod")
        )
        self.waiting.append(waiting)
        if self._due is None and waiting and self.supply:
            self._due = scene.seconds + self._late
        if self._due is not None and scene.seconds >= self._due:
            self._due = None
            name = f"a{len(self.made)}"
            self.made.append(name)
            scene.add_node(name, room=self._room)
        return {}


def requires_spot(pod: dict[str, Any]) -> bool:
    """Whether a pod may go to spot nodes alone."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    clauses = [
        clause
        for term in required.get("nodeSelectorTerms", ())
        for clause in term.get("matchExpressions", ())
    ]
    return any(
        clause["key"] in names.CAPACITY_LABELS
        and clause["operator"] == "In"
        and names.SPOT in clause["values"]
        for clause in clauses
    )
