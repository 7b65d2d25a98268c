"""The ReplicaSet controller, as pkg/controller/replicaset of Kubernetes 1.36 works."""

from evenkeel.errors import ClusterError
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    condition_of,
    controller_of,
    is_active,
    is_available,
    is_leaving,
    is_ready,
    labels_of,
    with_condition,
    without_condition,
)
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.controllers.ownership import claim, pod_of_template, slow_start
from evenkeel_sandbox.simulator.controllers.pods import PodController
from evenkeel_sandbox.simulator.controllers.surplus import surplus
from evenkeel_sandbox.simulator.controllers.work import Steps, Work, errors_in

BURST_REPLICAS = 500
"""How many pods one pass creates or deletes at most."""


class ReplicaSetController(PodController):
    """Keeps as many pods as ``spec.replicas`` asks for, and counts them in the status."""

    kind = "ReplicaSet"

    def reconcile_object(self, replica_set: Obj) -> Work:
        """Claim pods, create or delete some, update the status."""
        candidates = [pod for pod in self.candidates(replica_set) if is_active(pod)]
        pods = yield from claim(self.server, replica_set, candidates)
        failure: ClusterError | None = None
        if not is_leaving(replica_set):
            failure = yield from self._manage(replica_set, pods)
        yield from self._update_status(replica_set, pods, failure)
        if failure is not None:
            raise failure
        self.check_again_for_availability(replica_set, pods)

    def _manage(self, replica_set: Obj, pods: list[Obj]) -> Steps[ClusterError | None]:
        difference = len(pods) - replica_set["spec"]["replicas"]
        if difference < 0:
            count = min(-difference, BURST_REPLICAS)
            manifest = pod_of_template(replica_set, replica_set["spec"]["template"])
            return (yield from slow_start(count, self.creation(replica_set, manifest)))
        if difference > 0:
            related = self._pods_of_the_same_workload(replica_set)
            doomed = surplus(pods, related, min(difference, BURST_REPLICAS), self.world.now())
            return next(iter(errors_in((yield [self.deletion(pod) for pod in doomed]))), None)
        return None

    def _pods_of_the_same_workload(self, replica_set: Obj) -> list[Obj]:
        """The pods that any ReplicaSet of the same Deployment selects."""
        owner = controller_of(replica_set)
        siblings = self.store.dependents(owner["uid"], "ReplicaSet") if owner else [replica_set]
        return [
            pod
            for pod in self.store.all("Pod", replica_set["metadata"]["namespace"])
            if any(selects(rs["spec"]["selector"], labels_of(pod)) for rs in siblings)
        ]

    def _update_status(
        self, replica_set: Obj, pods: list[Obj], failure: ClusterError | None
    ) -> Work:
        now = self.world.now()
        spec, old = replica_set["spec"], replica_set.get("status") or {}
        ready = [pod for pod in pods if is_ready(pod)]
        wanted = at(spec, "template", "metadata", "labels", default={}).items()
        min_ready = spec.get("minReadySeconds", 0)
        status = {
            **old,
            "replicas": len(pods),
            "fullyLabeledReplicas": sum(1 for pod in pods if wanted <= labels_of(pod).items()),
            "readyReplicas": len(ready),
            "availableReplicas": sum(1 for p in ready if is_available(p, min_ready, now)),
            "observedGeneration": replica_set["metadata"]["generation"],
        }
        known = condition_of(replica_set, "ReplicaFailure")
        if failure is not None and known is None:
            reason = "FailedCreate" if len(pods) < spec["replicas"] else "FailedDelete"
            condition = {
                "type": "ReplicaFailure",
                "status": "True",
                "reason": reason,
                "message": str(failure),
            }
            status = with_condition(status, condition, now)
        elif failure is None and known is not None:
            status = without_condition(status, "ReplicaFailure")
        yield from self.set_status(replica_set, status)

    def might_adopt(self, owner: Obj, orphan: Obj) -> bool:
        """Whether it selects the pod."""
        return selects(owner["spec"]["selector"], labels_of(orphan))
