"""What is kept of a snapshot's objects: all but what nobody reads, and equal parts once."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

CONTAINERS: Final = frozenset({"containers", "initContainers"})

OF_A_SPEC: Final = frozenset(
    {
        *CONTAINERS,
        "affinity",
        "hostNetwork",
        "nodeName",
        "nodeSelector",
        "overhead",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "readinessGates",
        "resources",
        "restartPolicy",
        "schedulerName",
        "schedulingGates",
        "schedulingGroup",
        "terminationGracePeriodSeconds",
        "tolerations",
        "topologySpreadConstraints",
        "volumes",
    }
)
"""What placement and the ways of a pod depend on. Most of a pod's text is the rest."""

OF_A_CONTAINER: Final = frozenset({"name", "resources", "ports", "restartPolicy", "lifecycle"})
STATUSES: Final = frozenset({"containerStatuses", "initContainerStatuses"})
OF_A_STATUS: Final = frozenset({*STATUSES, "phase", "reason", "message", "conditions", "startTime"})
OF_A_CONTAINER_STATUS: Final = frozenset({"name", "ready", "restartCount", "state"})

SOURCES: Final = frozenset({"emptyDir", "persistentVolumeClaim", "ephemeral"})
"""Volumes of other sources bind a pod to no place, and hold nothing that is lost with it."""


class KeptFields:
    """Keeps objects of one snapshot. They share their equal parts: do not change them."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def of(self, item: dict[str, Any]) -> dict[str, Any]:
        """An object without what nobody reads. It was seen to be what its kind says."""
        metadata = _but(item["metadata"], "managedFields")
        if LAST_APPLIED in (notes := metadata.get("annotations") or {}):
            metadata["annotations"] = _but(notes, LAST_APPLIED)
        kept = {**item, "metadata": self._sharing(metadata)}
        return kept if item["kind"] != "Pod" else self._pod(kept)

    def _pod(self, pod: dict[str, Any]) -> dict[str, Any]:
        parts = {"spec": _spec(pod.get("spec") or {}), "status": _status(pod.get("status") or {})}
        return pod | {name: self._sharing(part) for name, part in parts.items() if part}

    def _sharing(self, part: Mapping[str, Any]) -> dict[str, Any]:
        """The same, with the values of other objects where they are equal."""
        return {key: self._shared(value) for key, value in part.items()}

    def _shared(self, value: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        return self._known.setdefault(msgspec.json.encode(value), value)


def _spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    found = _only(spec, OF_A_SPEC)
    for each in CONTAINERS & found.keys():
        found[each] = [_only(container, OF_A_CONTAINER) for container in found[each] or ()]
    if "volumes" in found:
        found["volumes"] = [each for each in found["volumes"] or () if SOURCES & each.keys()]
    return found


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    found = _only(status, OF_A_STATUS)
    for each in STATUSES & found.keys():
        found[each] = [_only(status, OF_A_CONTAINER_STATUS) for status in found[each] or ()]
    return found


def _but(part: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {each: value for each, value in part.items() if each != key}


def _only(part: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {each: value for each, value in part.items() if each in keys}
