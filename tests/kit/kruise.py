"""CloneSets of OpenKruise, and what their controller does, for tests without it."""

from itertools import count
from typing import Any, Final

from evenkeel_sandbox.simulator.api.objects import Obj, controller_of, is_finished, is_leaving
from tests.kit.custom_kinds import Hands, Step, owned
from tests.kit.manifests import Manifest, resource, workload

INSTANCE_ID: Final = "apps.kruise.io/cloneset-instance-id"


def clone_set(app: str, replicas: int, namespace: str = "default", **more: Any) -> Manifest:
    """A CloneSet; see ``workload``."""
    return workload("CloneSet", app, replicas, namespace=namespace, **more)


def keeping(owner: Obj) -> Step:
    """Its controller, which makes a pod for each that is missing: a leaving one is.

    As ``Scale`` does in pkg/controller/cloneset/sync of kruise 1.9.0.
    """
    name, spec, ids = owner["metadata"]["name"], owner["spec"], count()

    def step(hands: Hands) -> None:
        active = [pod for pod in hands.objects("Pod") if _is_of(owner, pod)]
        for _ in range(spec["replicas"] - len(active)):
            instance = f"{next(ids):05}"
            pod = resource("Pod", f"{name}-{instance}", spec=spec["template"]["spec"])
            given = spec["template"]["metadata"]
            labels = given["labels"] | {INSTANCE_ID: instance, "controller-revision-hash": "7c9d"}
            # Since 1.1 it puts this label on, though nothing selects by it.
            labels |= {"pod-template-hash": "7c9d"}
            pod["metadata"] |= given | {"labels": labels}
            hands.make(owned(pod, owner))

    return step


def _is_of(owner: Obj, pod: Obj) -> bool:
    reference = controller_of(pod)
    is_own = reference is not None and reference["uid"] == owner["metadata"]["uid"]
    return is_own and not is_leaving(pod) and not is_finished(pod)
