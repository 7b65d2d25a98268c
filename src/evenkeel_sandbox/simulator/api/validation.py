"""What the API server refuses as invalid (422), as far as Evenkeel could meet it."""

import re

from evenkeel.errors import InvalidError
from evenkeel_sandbox.simulator.api.objects import Obj, at

LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
LABEL_KEY = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
POD_MAY_CHANGE = (
    "tolerations",
    "activeDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "schedulingGates",
)
"""Of a pod's spec; of the gates some may be taken away."""


def validate(obj: Obj) -> None:
    """Refuse labels, taints and owners that no API server would keep."""
    name = f"{obj['kind']} {obj['metadata'].get('name', '')!r} is invalid"
    for key, value in (obj["metadata"].get("labels") or {}).items():
        if not isinstance(value, str) or not LABEL_VALUE.fullmatch(value):
            raise InvalidError(f"{name}: metadata.labels: {value!r} is no label value")
        if not LABEL_KEY.fullmatch(key):
            raise InvalidError(f"{name}: metadata.labels: {key!r} is no label key")
    for key, value in (obj["metadata"].get("annotations") or {}).items():
        if not isinstance(value, str):
            raise InvalidError(f"{name}: metadata.annotations: {key} is not a string")
    owners = obj["metadata"].get("ownerReferences") or ()
    if sum(1 for owner in owners if owner.get("controller")) > 1:
        raise InvalidError(f"{name}: metadata.ownerReferences: only one can be the controller")
    if obj["kind"] == "Node":
        taints = [(t["key"], t["effect"]) for t in at(obj, "spec", "taints", default=())]
        if len(set(taints)) != len(taints):
            raise InvalidError(f"{name}: spec.taints: key and effect have to be unique")


def validate_change(old: Obj, new: Obj) -> None:
    """Refuse a change of what cannot be changed, then whatever ``validate`` refuses."""
    name = f"{old['kind']} {old['metadata']['name']!r} is invalid"
    for field in ("name", "namespace", "uid"):
        if old["metadata"].get(field) != new["metadata"].get(field):
            raise InvalidError(f"{name}: metadata.{field}: field is immutable")
    if old["kind"] == "Pod" and _fixed(old["spec"]) != _fixed(new["spec"]):
        raise InvalidError(f"{name}: spec: pod updates may not change this field")
    gates = at(old, "spec", "schedulingGates", default=())
    if any(each not in gates for each in at(new, "spec", "schedulingGates", default=())):
        raise InvalidError(f"{name}: spec.schedulingGates: only deletion is allowed")
    validate(new)


def _fixed(spec: Obj) -> Obj:
    """The part of a pod's spec that cannot be changed."""
    kept = {key: value for key, value in spec.items() if key not in POD_MAY_CHANGE}
    kept["containers"] = [
        {key: value for key, value in container.items() if key not in ("image", "resources")}
        for container in spec.get("containers") or ()
    ]
    return kept
