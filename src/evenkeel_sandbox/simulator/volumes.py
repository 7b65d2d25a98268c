"""Where the volumes are that only one node can use at a time.

The scheduler does not look at that: a pod whose ReadWriteOnce claim is attached elsewhere is
bound to a node and then waits there (Multi-Attach error) until the volume is detached. That
is when the pods that use it are gone from their node; from a node that is off the controller
detaches after six minutes, or at once under the out-of-service taint (KEP-2268).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from evenkeel.model.names import OUT_OF_SERVICE
from evenkeel_sandbox.simulator.api.objects import Key, Obj, at, is_finished, node_of, uid_of
from evenkeel_sandbox.simulator.world import World

DETACH_BY_FORCE_AFTER = timedelta(minutes=6)
SHARED = {"ReadWriteMany", "ReadOnlyMany"}


def claims_of(pod: Obj) -> Iterator[Key]:
    """The claims that a pod mounts."""
    for volume in at(pod, "spec", "volumes") or ():
        if (name := at(volume, "persistentVolumeClaim", "claimName")) is not None:
            yield pod["metadata"]["namespace"], name


class Volumes:
    """The attachments of single-node claims: ``attached`` has the node of each."""

    def __init__(self, world: World, is_dead: Callable[[str], bool]) -> None:
        """``is_dead`` tells whether a node's kubelet is gone."""
        self.attached: dict[Key, str] = {}
        self._world = world
        self._is_dead = is_dead
        self._users: defaultdict[Key, dict[str, Obj]] = defaultdict(dict)
        self._waiting: defaultdict[Key, dict[str, Callable[[], None]]] = defaultdict(dict)
        world.store.observe("Pod", self._pod_changed)
        world.store.observe("Node", self._node_changed)

    def are_there(self, pod: Obj, try_again: Callable[[], None]) -> bool:
        """Whether all that a pod mounts is attached to its node; if not, ``try_again`` later."""
        lacking = [c for c in claims_of(pod) if self.attached.get(c, node_of(pod)) != node_of(pod)]
        for claim in lacking:
            self._waiting[claim][uid_of(pod)] = try_again
            self._world.record(
                pod,
                "FailedAttachVolume",
                f"Multi-Attach error for volume {claim[1]!r}: it is attached to another node",
            )
        return not lacking

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        pod = new or old or {}
        for claim in claims_of(pod) if node_of(pod) else ():
            if new is not None and not is_finished(new):
                self._users[claim][uid_of(pod)] = new
            else:
                self._users[claim].pop(uid_of(pod), None)
                self._waiting[claim].pop(uid_of(pod), None)
            self._settle(claim)

    def _node_changed(self, _old: Obj | None, new: Obj | None) -> None:
        if new is None or _is_out_of_service(new):
            gone = (new or _old or {})["metadata"]["name"]
            for claim in [each for each, node in self.attached.items() if node == gone]:
                self._settle(claim)

    def _settle(self, claim: Key, *, by_force: bool = False) -> None:
        """Detach a claim that no pod uses where it is, attach it to the node of the first user."""
        node, users = self.attached.get(claim), self._users[claim]
        if node is not None and all(node_of(pod) != node for pod in users.values()):
            found = self._world.store.get("Node", ("", node))
            if found is None or not self._is_dead(node) or _is_out_of_service(found) or by_force:
                del self.attached[claim]
                for try_again in self._waiting.pop(claim, {}).values():
                    self._world.clock.call_in(timedelta(), try_again)
            else:
                settle = partial(self._settle, claim, by_force=True)
                self._world.clock.call_in(DETACH_BY_FORCE_AFTER, settle)
        if claim not in self.attached and users and self._is_single(claim):
            self.attached[claim] = node_of(next(iter(users.values())))

    def _is_single(self, claim: Key) -> bool:
        found = self._world.store.get("PersistentVolumeClaim", claim)
        return found is not None and not SHARED.intersection(found["spec"].get("accessModes") or ())


def _is_out_of_service(node: Obj) -> bool:
    return any(each["key"] == OUT_OF_SERVICE for each in node["spec"].get("taints") or ())
