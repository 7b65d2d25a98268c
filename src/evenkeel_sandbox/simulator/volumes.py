"""Where the volumes are that only one node can use at a time.

The scheduler does not look at them: a pod whose ReadWriteOnce claim is attached elsewhere is
bound to a node and then waits there (Multi-Attach error) until the volume is detached. That
is when the pods that use it are gone from their node; from a node that is off the controller
detaches after six minutes, or at once under the out-of-service taint (KEP-2268).
"""

import functools
from collections.abc import Callable, Iterator
from datetime import timedelta

from evenkeel.model.names import OUT_OF_SERVICE
from evenkeel_sandbox.simulator.api.objects import Key, Obj, at, is_finished, node_of
from evenkeel_sandbox.simulator.world import World

DETACH_BY_FORCE_AFTER = timedelta(minutes=6)
SHARED = {"ReadWriteMany", "ReadOnlyMany"}


def claims_of(pod: Obj) -> Iterator[Key]:
    """The claims that a pod mounts."""
    for volume in pod["spec"].get("volumes") or ():
        if (name := at(volume, "persistentVolumeClaim", "claimName")) is not None:
            yield pod["metadata"]["namespace"], name


class Volumes:
    """The attachments of single-node claims."""

    def __init__(self, world: World, is_dead: Callable[[str], bool]) -> None:
        """``is_dead`` tells whether a node's kubelet is gone."""
        self._world = world
        self._is_dead = is_dead
        self._attached: dict[Key, str] = {}
        self._waiting: dict[Key, dict[Callable[[], None], None]] = {}

    def attach(self, pod: Obj, try_again: Callable[[], None]) -> bool:
        """Attach what a pod mounts to its node; if that has to wait, ``try_again`` is called."""
        node = node_of(pod)
        mine = [claim for claim in claims_of(pod) if self._is_single(claim)]
        taken = [claim for claim in mine if self._attached.get(claim, node) != node]
        for claim in taken:
            self._waiting.setdefault(claim, {})[try_again] = None
            self._world.record(
                pod,
                "FailedAttachVolume",
                f"Multi-Attach error for volume {claim[1]!r}: it is attached to another node",
            )
        if taken:
            return False
        self._attached.update(dict.fromkeys(mine, node))
        return True

    def released(self, pod: Obj) -> None:
        """Notice that a pod is gone, or finished: volumes that no pod there uses are detached."""
        node = node_of(pod)
        for claim in claims_of(pod):
            if self._attached.get(claim) != node:
                continue
            if any(
                claim in claims_of(other)
                for other in self._world.store.pods_on(node)
                if not is_finished(other) and other["metadata"]["uid"] != pod["metadata"]["uid"]
            ):
                continue
            if self._is_dead(node) and not self._is_out_of_service(node):
                self._world.clock.call_in(
                    DETACH_BY_FORCE_AFTER, functools.partial(self._detach, claim, node)
                )
            else:
                self._detach(claim, node)

    def _detach(self, claim: Key, node: str) -> None:
        if self._attached.get(claim) == node:
            del self._attached[claim]
            for try_again in self._waiting.pop(claim, {}):
                self._world.clock.call_in(timedelta(), try_again)

    def _is_single(self, claim: Key) -> bool:
        found = self._world.store.get("PersistentVolumeClaim", claim)
        return found is not None and not SHARED.intersection(found["spec"].get("accessModes") or ())

    def _is_out_of_service(self, node: str) -> bool:
        found = self._world.store.get("Node", ("", node))
        return found is None or any(
            taint["key"] == OUT_OF_SERVICE for taint in found["spec"].get("taints") or ()
        )
