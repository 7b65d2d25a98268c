"""ResourceQuota: what a namespace may use, charged when a pod is created."""

from evenkeel.errors import ForbiddenError
from evenkeel.model.quantity import number
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    is_finished,
    is_leaving,
    requests_of,
)
from evenkeel_sandbox.simulator.api.store import Store

COUNTED = ("pods", "count/pods")


def usage(pod: Obj) -> dict[str, float]:
    """What one pod uses, under every name that a quota may give it."""
    used = dict.fromkeys(COUNTED, 1.0)
    for resource, amount in requests_of(pod).items():
        used[resource] = amount
        used[f"requests.{resource}"] = amount
    return used


def counts(pod: Obj) -> bool:
    """Whether a pod still counts: not when it is finished, nor past its grace period."""
    return not is_finished(pod) and not (
        is_leaving(pod) and at(pod, "metadata", "deletionGracePeriodSeconds", default=0) == 0
    )


def total(pods: list[Obj], hard: Obj) -> dict[str, str]:
    """What these pods use of each limit, as status.used has it."""
    used = dict.fromkeys(hard, 0.0)
    for pod in pods:
        if counts(pod):
            mine = usage(pod)
            for name in hard:
                used[name] += mine.get(name, 0)
    return {name: written(amount) for name, amount in used.items()}


def written(amount: float) -> str:
    """A number as a quantity."""
    return str(int(amount)) if amount == int(amount) else f"{round(amount * 1000)}m"


def charge(store: Store, pod: Obj) -> Obj:
    """Book a new pod on every quota of its namespace; ForbiddenError if one is exceeded."""
    name = pod["metadata"]["name"]
    namespace = pod["metadata"]["namespace"]
    mine = usage(pod)
    booked: list[Obj] = []
    for found in list(store.all("ResourceQuota", namespace)):
        hard = at(found, "spec", "hard", default={})
        limits = {key: number(str(hard[key])) for key in hard if _is_known(key)}
        missing = [key for key in limits if key not in mine]
        if missing:
            raise ForbiddenError(
                f'pods "{name}" is forbidden: failed quota: {found["metadata"]["name"]}: '
                f"must specify {','.join(sorted(missing))}"
            )
        status = at(found, "status", "used")
        if status is None:
            raise ForbiddenError(
                f'pods "{name}" is forbidden: status unknown for quota: {found["metadata"]["name"]}'
            )
        used = {key: number(str(status.get(key, 0))) for key in limits}
        over = [key for key in limits if used[key] + mine[key] > limits[key]]
        if over:
            raise ForbiddenError(
                f'pods "{name}" is forbidden: exceeded quota: {found["metadata"]["name"]}, '
                f"requested: {_listed(mine, over)}, used: {_listed(used, over)}, "
                f"limited: {_listed(limits, over)}"
            )
        now = {**status, **{key: written(used[key] + mine[key]) for key in limits}}
        booked.append({**found, "status": {**found["status"], "used": now}})
    for changed in booked:
        store.write(changed)
    return pod


def _is_known(key: str) -> bool:
    return key in COUNTED or key.removeprefix("requests.") in ("cpu", "memory")


def _listed(amounts: dict[str, float], keys: list[str]) -> str:
    return ",".join(f"{key}={written(amounts[key])}" for key in keys)
