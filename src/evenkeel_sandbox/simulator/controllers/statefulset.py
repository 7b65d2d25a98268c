"""The StatefulSet controller, after pkg/controller/statefulset of Kubernetes 1.36.

A pod is made again only when the object of its predecessor is gone. Under OrderedReady nothing
happens to an ordinal before all lower ones are available, and pods go from the highest down.
"""

from collections.abc import Iterable

from evenkeel.errors import ForbiddenError
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    is_available,
    is_finished,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    phase_of,
    uid_of,
)
from evenkeel_sandbox.simulator.controllers.deployment import template_hash
from evenkeel_sandbox.simulator.controllers.ordinals import (
    REVISION,
    manifests,
    ordinal_of,
    range_of,
)
from evenkeel_sandbox.simulator.controllers.ownership import claim
from evenkeel_sandbox.simulator.controllers.pods import PodController
from evenkeel_sandbox.simulator.controllers.work import Call, Steps, Work, errors_in


class StatefulSetController(PodController):
    """Keeps one pod per ordinal."""

    kind = "StatefulSet"

    def observe(self) -> None:
        """Watch StatefulSets and pods."""
        self._templates: dict[tuple[str, str], Obj] = {}
        super().observe()

    def reconcile_object(self, found: Obj) -> Work:
        """Take the next step, then count."""
        members = [pod for pod in self.candidates(found) if ordinal_of(pod, found) is not None]
        pods = yield from claim(self.server, found, members)
        stateful_set = self._with_revisions(found)
        if not is_leaving(stateful_set):
            yield from self._step(stateful_set, pods)
        yield from self._update_status(stateful_set, pods)
        self.check_again_for_availability(stateful_set, pods)

    def _with_revisions(self, found: Obj) -> Obj:
        """The set with the revision that it updates to, and the one that it comes from."""
        template, uid = found["spec"]["template"], uid_of(found)
        status = dict(found.get("status") or {})
        update = next(
            (
                revision
                for (of, revision), known in self._templates.items()
                if of == uid and known == template
            ),
            "",
        )
        if not update:
            update = f"{found['metadata']['name']}-{template_hash(template)}"
            is_new = not any(of == uid for of, _ in self._templates)
            if is_new and status.get("observedGeneration") == found["metadata"].get("generation"):
                # Read from another cluster, which has its own names for revisions.
                update = status.get("updateRevision", update)
            self._templates[uid, update] = template
        status["updateRevision"] = update
        if (uid, status.get("currentRevision", "")) not in self._templates:
            status["currentRevision"] = update
        return {**found, "status": status}

    def _step(self, stateful_set: Obj, pods: list[Obj]) -> Work:
        start, count = range_of(stateful_set)
        by_ordinal = {ordinal_of(pod, stateful_set): pod for pod in pods}
        wanted = [(o, by_ordinal.get(o)) for o in range(start, start + count)]
        condemned = sorted(
            (
                (o, pod)
                for o, pod in by_ordinal.items()
                if o is not None and not start <= o < start + count
            ),
            key=lambda entry: -entry[0],
        )
        ordered = stateful_set["spec"]["podManagementPolicy"] == "OrderedReady"
        blocked = yield from self._keep(stateful_set, wanted, ordered=ordered)
        if blocked:
            return
        blocked = yield from self._scale_in(
            stateful_set, [pod for _, pod in condemned], ordered=ordered
        )
        if not blocked and stateful_set["spec"]["updateStrategy"]["type"] == "RollingUpdate":
            yield from self._update(stateful_set, wanted)

    def _keep(
        self, stateful_set: Obj, wanted: list[tuple[int, Obj | None]], *, ordered: bool
    ) -> Steps[bool]:
        """Make what is missing; whether anything has to wait for it."""
        calls: list[Call] = []
        for ordinal, pod in wanted:
            if pod is None:
                calls.append(self._creation(stateful_set, ordinal))
            elif is_finished(pod):
                if not is_leaving(pod):
                    calls.append(self.deletion(pod))
            elif not ordered or self._is_available(stateful_set, pod):
                continue
            if ordered:
                break
        else:
            if not calls:
                return False
        failed = errors_in((yield calls))
        if failed:
            raise failed[0]
        return ordered

    def _scale_in(self, stateful_set: Obj, condemned: list[Obj], *, ordered: bool) -> Steps[bool]:
        """Delete the highest first; whether anything has to wait for it."""
        unhealthy = [p for p in condemned if not self._is_available(stateful_set, p)]
        for pod in condemned:
            if is_leaving(pod):
                if ordered:
                    return True
                continue
            if ordered and pod in unhealthy[:-1]:
                # Of several unhealthy pods the lowest goes first.
                return True
            yield self.deletion(pod)
            if ordered:
                return True
        return False

    def _update(self, stateful_set: Obj, wanted: list[tuple[int, Obj | None]]) -> Work:
        """Delete outdated pods from the highest ordinal down, as many as may be missing."""
        rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
        target = stateful_set["status"]["updateRevision"]
        pods = [pod for _, pod in wanted if pod is not None]
        missing = len(wanted) - sum(1 for p in pods if self._is_available(stateful_set, p))
        allowed = 1 - missing
        start = wanted[0][0] if wanted else 0
        for ordinal, pod in reversed(wanted):
            if ordinal - start < rolling.get("partition", 0) or allowed <= 0 or pod is None:
                return
            if labels_of(pod).get(REVISION) != target and not is_leaving(pod):
                allowed -= 1
                yield self.deletion(pod)

    def _creation(self, stateful_set: Obj, ordinal: int) -> Call:
        revision = self._revision_for(stateful_set, ordinal)
        template = self._templates[uid_of(stateful_set), revision]
        pod, claims = manifests(stateful_set, template, ordinal, revision)

        def create() -> Obj:
            for claim_manifest in claims:
                if self.store.get("PersistentVolumeClaim", key_of(claim_manifest)) is None:
                    self.server.create(claim_manifest)
            try:
                return self.server.create(pod)
            except ForbiddenError as error:
                self.world.record(
                    stateful_set, "FailedCreate", f"create Pod {key_of(pod)[1]} failed: {error}"
                )
                raise

        return create

    def _revision_for(self, stateful_set: Obj, ordinal: int) -> str:
        """The revision of a new pod: the old one where the update has not come yet."""
        status = stateful_set["status"]
        start, _ = range_of(stateful_set)
        rolling = stateful_set["spec"]["updateStrategy"].get("rollingUpdate")
        not_yet = rolling["partition"] if rolling else status.get("currentReplicas", 0)
        is_old = ordinal - start < not_yet and stateful_set["spec"]["updateStrategy"]["type"] == (
            "RollingUpdate"
        )
        return str(status["currentRevision" if is_old else "updateRevision"])

    def _is_available(self, stateful_set: Obj, pod: Obj) -> bool:
        return (
            phase_of(pod) == "Running"
            and not is_leaving(pod)
            and is_available(pod, stateful_set["spec"].get("minReadySeconds", 0), self.world.now())
        )

    def _update_status(self, stateful_set: Obj, pods: list[Obj]) -> Work:
        old = self.store.get("StatefulSet", key_of(stateful_set))
        if old is None:
            return
        status = dict(stateful_set["status"])
        current, update = status["currentRevision"], status["updateRevision"]
        alive = [p for p in pods if not is_leaving(p)]
        available = sum(1 for p in alive if self._is_available(stateful_set, p))
        status.update(
            replicas=len(pods),
            readyReplicas=sum(1 for p in pods if phase_of(p) == "Running" and is_ready(p)),
            availableReplicas=available,
            currentReplicas=_count(alive, current),
            updatedReplicas=_count(alive, update),
            observedGeneration=stateful_set["metadata"]["generation"],
        )
        wanted = stateful_set["spec"]["replicas"]
        if status["updatedReplicas"] == status["readyReplicas"] == wanted == len(pods):
            status["currentRevision"] = update
            status["currentReplicas"] = status["updatedReplicas"]
        yield from self.set_status(old, status)

    def might_adopt(self, owner: Obj, orphan: Obj) -> bool:
        """Whether the pod's name is one of its ordinals."""
        return ordinal_of(orphan, owner) is not None


def _count(pods: Iterable[Obj], revision: str) -> int:
    return sum(1 for pod in pods if labels_of(pod).get(REVISION) == revision)
