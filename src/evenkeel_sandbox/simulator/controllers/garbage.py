"""The garbage collector: what a deleted object owned is deleted too.

An object goes when all its owners are gone. One that has another owner left only loses the
reference; one without owners, such as a released pod, stays.
"""

from datetime import timedelta
from typing import ClassVar

from evenkeel.errors import ConflictError, NotFoundError
from evenkeel_sandbox.simulator.api.objects import Key, Obj, key_of, owners_of, uid_of
from evenkeel_sandbox.simulator.api.resources import KINDS
from evenkeel_sandbox.simulator.controllers.work import Call, Controller, Work


class GarbageCollector(Controller):
    """Works on dependents; the namespace of its keys carries the kind: ``Pod/default``."""

    workers = 20
    qps_share: ClassVar[float] = 2.0
    lag = timedelta(seconds=0.3)  # its graph of all objects follows all watches

    def observe(self) -> None:
        """Watch everything for owners that go, and for dependents that come too late."""
        for kind in KINDS:
            self.store.observe(kind, self._changed)

    def reconcile(self, key: Key) -> Work:
        """Look at the owners of one dependent."""
        kind, namespace = key[0].split("/")
        obj = self.store.get(kind, (namespace, key[1]))
        if obj is None:
            return
        left = [owner for owner in owners_of(obj) if self.store.has_uid(owner["uid"])]
        if len(left) == len(owners_of(obj)):
            return
        yield self._strip(obj, left) if left else self._deletion(obj)

    def _deletion(self, obj: Obj) -> Call:
        def delete() -> None:
            try:
                self.server.delete(obj["kind"], key_of(obj), uid=uid_of(obj))
            except (NotFoundError, ConflictError):
                return

        return delete

    def _strip(self, obj: Obj, left: list[Obj]) -> Call:
        def edit(now: Obj) -> Obj:
            return {**now, "metadata": {**now["metadata"], "ownerReferences": left}}

        return lambda: self.server.change(obj["kind"], key_of(obj), edit, uid=uid_of(obj))

    def _changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is None and old is not None:
            for dependent in self.store.dependents(uid_of(old)):
                self._enqueue(dependent)
        elif (
            new is not None
            and (old is None or owners_of(old) != owners_of(new))
            and not all(self.store.has_uid(owner["uid"]) for owner in owners_of(new))
        ):
            self._enqueue(new)

    def _enqueue(self, obj: Obj) -> None:
        namespace, name = key_of(obj)
        self.enqueue((f"{obj['kind']}/{namespace}", name))
