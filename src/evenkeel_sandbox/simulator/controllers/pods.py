"""What controllers of pods do alike: find, make and delete pods, wait until they are available."""

from datetime import timedelta

from evenkeel.errors import ClusterError
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    controller_of,
    key_of,
    labels_of,
    ready_since,
    uid_of,
)
from evenkeel_sandbox.simulator.controllers.work import Call, Controller, unless_gone


class PodController(Controller):
    """A controller whose objects own pods."""

    def observe(self) -> None:
        """Watch its objects and pods."""
        super().observe()
        self.store.observe("Pod", self.pod_changed)

    def pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        """Enqueue who owns a pod, or did, and who might adopt one that nobody owns."""
        self.enqueue_owners(old, new)
        if new is None or controller_of(new) is not None:
            return
        if old is None or controller_of(old) is not None or labels_of(old) != labels_of(new):
            for owner in self.store.all(self.kind, key_of(new)[0]):
                if self.might_adopt(owner, new):
                    self.enqueue(key_of(owner))

    def might_adopt(self, owner: Obj, orphan: Obj) -> bool:  # noqa: ARG002 - for those that do
        """Whether an object would take a pod that nobody owns."""
        return False

    def candidates(self, owner: Obj) -> list[Obj]:
        """The pods that an object may claim: its own, and those of its namespace without one."""
        return [*self.store.owned(owner, "Pod"), *self.store.orphans(key_of(owner)[0])]

    def creation(self, owner: Obj, manifest: Obj) -> Call:
        """The request that makes a pod; a failure is an Event of its owner."""

        def create() -> Obj:
            try:
                return self.server.create(manifest)
            except ClusterError as error:
                self.world.record(owner, "FailedCreate", f"Error creating: {error}")
                raise

        return create

    def deletion(self, pod: Obj) -> Call:
        """The request that deletes a pod, if it is still there."""
        return unless_gone(lambda: self.server.delete("Pod", key_of(pod), uid=uid_of(pod)))

    def check_again_for_availability(self, owner: Obj, pods: list[Obj]) -> None:
        """Work on an object once more when the next of its pods has been Ready for long enough."""
        wait = timedelta(seconds=owner["spec"].get("minReadySeconds", 0))
        if not wait:
            return
        now = self.world.now()
        due = [
            since + wait - now
            for pod in pods
            if (since := ready_since(pod)) is not None and since + wait > now
        ]
        if due:
            self.enqueue_after(key_of(owner), min(due))
