"""A StatefulSet's ordinals, and what is made for each: a pod with a name of its own, and claims."""

from evenkeel.model.names import POD_INDEX
from evenkeel_sandbox.simulator.api.objects import Obj, at
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.controllers.ownership import controller_reference, metadata_of

REVISION = "controller-revision-hash"
POD_NAME = "statefulset.kubernetes.io/pod-name"


def range_of(stateful_set: Obj) -> tuple[int, int]:
    """The first ordinal, and how many there are."""
    start = at(stateful_set, "spec", "ordinals", "start", default=0)
    return int(start), int(stateful_set["spec"]["replicas"])


def ordinal_of(pod: Obj, stateful_set: Obj) -> int | None:
    """The ordinal in a pod's name, or None if the name is not of this set."""
    parent, _, number = pod["metadata"]["name"].rpartition("-")
    if parent != stateful_set["metadata"]["name"] or not number.isdecimal():
        return None
    return int(number)


def manifests(
    stateful_set: Obj, template: Obj, ordinal: int, revision: str
) -> tuple[Obj, list[Obj]]:
    """The pod of an ordinal, and the claims that it mounts."""
    namespace = stateful_set["metadata"]["namespace"]
    name = f"{stateful_set['metadata']['name']}-{ordinal}"
    metadata = metadata_of(template)
    templates: list[Obj] = stateful_set["spec"].get("volumeClaimTemplates") or []
    spec = {**template["spec"], "hostname": name}
    if templates:
        spec["volumes"] = [*(spec.get("volumes") or ()), *(_volume(t, name) for t in templates)]
    labels = {POD_NAME: name, POD_INDEX: str(ordinal), REVISION: revision}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **metadata,
            "namespace": namespace,
            "name": name,
            "labels": {**(metadata.get("labels") or {}), **labels},
            "ownerReferences": [controller_reference(stateful_set)],
        },
        "spec": spec,
    }
    selected = stateful_set["spec"]["selector"].get("matchLabels")
    claims = [
        manifest(
            "PersistentVolumeClaim",
            _claim_name(claim, name),
            namespace,
            labels=selected,
            spec=claim["spec"],
        )
        for claim in templates
    ]
    return pod, claims


def _claim_name(claim: Obj, pod: str) -> str:
    return f"{claim['metadata']['name']}-{pod}"


def _volume(claim: Obj, pod: str) -> Obj:
    source = {"claimName": _claim_name(claim, pod)}
    return {"name": claim["metadata"]["name"], "persistentVolumeClaim": source}
