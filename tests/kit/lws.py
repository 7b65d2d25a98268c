"""LeaderWorkerSets, and what their controller and webhook do, for tests without them."""

from collections.abc import Sequence
from typing import Any, Final

from evenkeel.model.gang import GROUP_KEY, RECREATED, SET_NAME
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    controller_of,
    is_leaving,
    labels_of,
    uid_of,
)
from tests.kit.custom_kinds import Hands, Step, owned
from tests.kit.manifests import Manifest, resource, template

GROUP_INDEX: Final = "leaderworkerset.sigs.k8s.io/group-index"
WORKER_INDEX: Final = "leaderworkerset.sigs.k8s.io/worker-index"
LEADER: Final = {WORKER_INDEX: "0"}


def leader_worker_set(
    app: str,
    groups: int,
    size: int,
    *,
    policy: str = RECREATED[0],
    namespace: str = "default",
    **pods: Any,
) -> Manifest:
    """A LeaderWorkerSet with so many groups of this size; ``pods``: see ``template``."""
    made = {"size": size, "restartPolicy": policy, "workerTemplate": template(app, **pods)}
    spec = {"replicas": groups, "leaderWorkerTemplate": made}
    return resource("LeaderWorkerSet", app, namespace, spec=spec)


def keeping(owner: Obj) -> Step:
    """Its controller, and the webhook that labels its pods.

    A StatefulSet makes the leaders. Each leader owns a StatefulSet that makes its workers. Under
    most policies a leader is deleted, and with it all that it owns, as soon as one of its pods is
    being deleted. As the reconcilers in pkg/controllers of lws 0.9.0 do, for one revision.
    """
    name, spec = owner["metadata"]["name"], owner["spec"]
    group, its = spec["leaderWorkerTemplate"], {SET_NAME: owner["metadata"]["name"]}

    def step(hands: Hands) -> None:
        sets = {each["metadata"]["name"]: each for each in hands.objects("StatefulSet")}
        if name not in sets:
            leaders = _stateful_set(name, spec["replicas"], group, its | LEADER)
            return hands.make(owned(leaders, owner))
        pods = hands.objects("Pod")
        for leader in pods:
            if its.items() | LEADER.items() <= labels_of(leader).items() and not is_leaving(leader):
                lead(hands, leader, sets.get(leader["metadata"]["name"]), pods)
        return None

    def lead(hands: Hands, leader: Obj, workers: Obj | None, pods: Sequence[Obj]) -> None:
        called = leader["metadata"]["name"]
        labels = its | {GROUP_INDEX: called.removeprefix(f"{name}-"), GROUP_KEY: f"key-of-{called}"}
        if GROUP_KEY not in labels_of(leader):
            return hands.label(called, labels)
        if group["size"] == 1:
            return None
        if workers is None:
            made = _stateful_set(called, group["size"] - 1, group, labels, start=1)
            return hands.make(owned(made, leader | {"kind": "Pod"}))
        has_leaving = any(is_leaving(pod) and _is_of(workers, pod) for pod in pods)
        if has_leaving and _is_of(leader, workers) and group["restartPolicy"] in RECREATED:
            hands.delete(called)
        return None

    return step


def _is_of(owner: Obj, item: Obj) -> bool:
    return (controller_of(item) or {}).get("uid") == uid_of(owner)


def _stateful_set(
    name: str, replicas: int, group: Manifest, labels: dict[str, str], start: int = 0
) -> Manifest:
    made = group["workerTemplate"]
    metadata = made["metadata"]
    metadata = metadata | {"labels": metadata["labels"] | labels}
    return resource(
        "StatefulSet",
        name,
        spec={
            "serviceName": name,
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "ordinals": {"start": start},
            "selector": {"matchLabels": labels},
            "template": made | {"metadata": metadata},
        },
    )
