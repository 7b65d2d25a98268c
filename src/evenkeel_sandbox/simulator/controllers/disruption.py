"""The disruption controller: counts what PodDisruptionBudgets allow, a moment late.

After pkg/controller/disruption of Kubernetes 1.36. It counts pods that are Ready and neither
leaving nor just evicted as healthy. A pod without a controller is counted healthy, but adds nothing
to what is expected of a percentage or of maxUnavailable. To that a Deployment adds its replicas
once, by its ReplicaSets and by itself. A ReplicaSet of any other owner adds its own, and the owner,
if it is the controller of pods, its own besides. For a controller without any nothing is allowed.
Evictions write a budget's status, too: a count that was made before one is refused, and made again.
"""

from datetime import datetime, timedelta

from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    controller_of,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    parse_time,
    scaled,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.controllers.work import Controller, Work

DELETION_TIMEOUT = timedelta(minutes=2)
"""An evicted pod that is still there after this time counts again."""

ALLOWED = "DisruptionAllowed"
"""The condition of a budget."""


class DisruptionController(Controller):
    """Keeps the status of PodDisruptionBudgets."""

    kind = "PodDisruptionBudget"
    workers = 1
    lag = timedelta(seconds=0.05)

    def observe(self) -> None:
        """Watch budgets and pods."""
        super().observe()
        self.store.observe("Pod", self._pod_changed)

    def reconcile_object(self, budget: Obj) -> Work:
        """Count one budget again."""
        key = key_of(budget)
        selector = budget["spec"].get("selector")
        pods = [p for p in self.store.all("Pod", key[0]) if selects(selector, labels_of(p))]
        now = self.world.now()
        old = budget.get("status") or {}
        try:
            expected, desired = self._expectations(budget, pods)
        except LookupError:
            condition = {"type": ALLOWED, "status": "False", "reason": "SyncFailed"}
            status = with_condition({**old, "disruptionsAllowed": 0}, condition, now)
            yield from self.set_status(budget, status, budget["metadata"]["resourceVersion"])
            return
        disrupted = _still_disrupted(budget, pods, now)
        healthy = sum(
            1
            for pod in pods
            if is_ready(pod) and not is_leaving(pod) and pod["metadata"]["name"] not in disrupted
        )
        allowed = healthy - desired if expected > 0 and healthy > desired else 0
        status = {
            **old,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            "observedGeneration": budget["metadata"]["generation"],
        }
        status.pop("disruptedPods", None)
        if disrupted:
            status["disruptedPods"] = disrupted
        condition = {
            "type": ALLOWED,
            "status": "True" if allowed else "False",
            "reason": "SufficientPods" if allowed else "InsufficientPods",
            "observedGeneration": budget["metadata"]["generation"],
        }
        status = with_condition(status, condition, now)
        yield from self.set_status(budget, status, budget["metadata"]["resourceVersion"])
        if disrupted:
            first = min(parse_time(since) for since in disrupted.values())
            self.enqueue_after(key, first + DELETION_TIMEOUT - now + timedelta(seconds=1))

    def _expectations(self, budget: Obj, pods: list[Obj]) -> tuple[int, int]:
        """How many pods are expected, and how many have to be healthy."""
        spec = budget["spec"]
        if "maxUnavailable" in spec:
            expected = self._scale(pods)
            missing = scaled(spec["maxUnavailable"], expected, round_up=True)
            return expected, max(0, expected - missing)
        minimum = spec.get("minAvailable", 1)
        if isinstance(minimum, int):
            return len(pods), minimum
        expected = self._scale(pods)
        return expected, scaled(minimum, expected, round_up=True)

    def _scale(self, pods: list[Obj]) -> int:
        """The sum of the sizes of all controllers of the pods; LookupError if one has none."""
        sizes: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is None or owner["uid"] in sizes:
                continue
            found = self._named(pod, owner)
            above = found and owner["kind"] == "ReplicaSet" and controller_of(found)
            if above and above["kind"] == "Deployment":
                found = self._named(pod, above) or found
            if found is None:
                raise LookupError(owner["name"])
            sizes[uid_of(found)] = found["spec"]["replicas"]
        return sum(sizes.values())

    def _named(self, pod: Obj, owner: Obj) -> Obj | None:
        """What a pod or its ReplicaSet calls its controller, if it is that one."""
        found = self.store.get(owner["kind"], (key_of(pod)[0], owner["name"]))
        return found if found is not None and uid_of(found) == owner["uid"] else None

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        """Recount one budget of the pod: of several the real controller, too, takes any one."""
        namespace = key_of(new or old or {})[0]
        budgets = list(self.store.all("PodDisruptionBudget", namespace))
        for state in (old, new):
            matching = [
                budget
                for budget in budgets
                if state is not None and selects(budget["spec"].get("selector"), labels_of(state))
            ]
            if len(matching) > 1:
                matching = [self.world.rng.choice(matching)]
            for budget in matching:
                self.enqueue(key_of(budget))


def _still_disrupted(budget: Obj, pods: list[Obj], now: datetime) -> dict[str, str]:
    """The evicted pods whose deletion has not been seen yet."""
    known = at(budget, "status", "disruptedPods", default={})
    return {
        pod["metadata"]["name"]: known[pod["metadata"]["name"]]
        for pod in pods
        if pod["metadata"]["name"] in known
        and not is_leaving(pod)
        and parse_time(known[pod["metadata"]["name"]]) + DELETION_TIMEOUT > now
    }
