"""Objects as the API server keeps them: JSON dicts that are never changed in place.

A change makes a new dict that shares what did not change, so an old state stays what it was
for all that still hold it: a watch, the history, a controller in the middle of its work.
"""

import functools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from evenkeel.model.pod import PodSpec

type Obj = dict[str, Any]
type Key = tuple[str, str]
"""Namespace and name; the namespace is empty for cluster-scoped kinds."""


def key_of(obj: Obj) -> Key:
    """Namespace and name."""
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def uid_of(obj: Obj) -> str:
    """The uid."""
    return str(obj["metadata"]["uid"])


def labels_of(obj: Obj) -> dict[str, str]:
    """The labels; empty if there are none."""
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Obj) -> dict[str, str]:
    """The annotations; empty if there are none."""
    return obj["metadata"].get("annotations") or {}


def is_leaving(obj: Obj) -> bool:
    """Whether it is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def owners_of(obj: Obj) -> list[Obj]:
    """Its owner references."""
    return obj["metadata"].get("ownerReferences") or []


def controller_of(obj: Obj) -> Obj | None:
    """The owner reference of its controller."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner  # type: ignore[no-any-return] # JSON
    return None


def at(obj: Obj, *path: str, default: Any = None) -> Any:
    """What is at this path of keys, or the default."""
    here: Any = obj
    for part in path:
        if not isinstance(here, dict) or part not in here:
            return default
        here = here[part]
    return here


def updated(obj: Obj, path: Sequence[str], value: Any) -> Obj:
    """A copy with another value at this path of keys; None removes the last key."""
    head, *rest = path
    copy = dict(obj)
    if rest:
        copy[head] = updated(copy.get(head) or {}, rest, value)
    elif value is None:
        copy.pop(head, None)
    else:
        copy[head] = value
    return copy


def condition_of(obj: Obj, kind: str) -> Obj | None:
    """The entry of status.conditions with this type."""
    status = obj.get("status")
    for condition in (status and status.get("conditions")) or ():
        if condition["type"] == kind:
            return condition  # type: ignore[no-any-return] # JSON
    return None


def is_true(obj: Obj, kind: str) -> bool:
    """Whether the condition of this type is there and True."""
    condition = condition_of(obj, kind)
    return condition is not None and condition.get("status") == "True"


def with_condition(status: Obj, condition: Obj, now: datetime) -> Obj:
    """A copy of a status with this condition; its transition time moves only with its status."""
    conditions = list(status.get("conditions") or ())
    for i, old in enumerate(conditions):
        if old["type"] == condition["type"]:
            since = old.get("lastTransitionTime") if old["status"] == condition["status"] else None
            conditions[i] = {**condition, "lastTransitionTime": since or stamp(now)}
            break
    else:
        conditions.append({**condition, "lastTransitionTime": stamp(now)})
    return {**status, "conditions": conditions}


def without_condition(status: Obj, kind: str) -> Obj:
    """A copy of a status without the conditions of this type."""
    conditions = [c for c in status.get("conditions") or () if c["type"] != kind]
    return {**status, "conditions": conditions}


def without_nulls(value: Any) -> Any:
    """A value without keys whose value is null: the API server drops them when it decodes.

    What has none is answered itself, and no copy: equal parts of a large snapshot are kept once.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        found = {k: without_nulls(v) for k, v in value.items() if v is not None}
        same = len(found) == len(value) and all(found[k] is v for k, v in value.items())
        return value if same and isinstance(value, dict) else found
    if isinstance(value, list | tuple):
        members = [without_nulls(v) for v in value]
        same = all(new is old for new, old in zip(members, value, strict=True))
        return value if same and isinstance(value, list) else members
    return value


def stamp(when: datetime) -> str:
    """A time as metav1.Time is written: RFC 3339 in whole seconds, cut off, not rounded."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


@functools.lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime:
    """The time that an RFC 3339 string means."""
    return datetime.fromisoformat(text).astimezone(UTC)


def is_ready(pod: Obj) -> bool:
    """Whether a pod's Ready condition is true."""
    return is_true(pod, "Ready")


def ready_since(pod: Obj) -> datetime | None:
    """When a pod became Ready; None while it is not."""
    condition = condition_of(pod, "Ready")
    if condition is None or condition["status"] != "True":
        return None
    return parse_time(condition.get("lastTransitionTime") or pod["metadata"]["creationTimestamp"])


def is_available(pod: Obj, min_ready_seconds: int, now: datetime) -> bool:
    """Whether a pod has been Ready for long enough."""
    since = ready_since(pod)
    if since is None:
        return False
    return not min_ready_seconds or since + timedelta(seconds=min_ready_seconds) <= now


def phase_of(pod: Obj) -> str:
    """A pod's phase."""
    status = pod.get("status")
    return str(status.get("phase", "Pending")) if status else "Pending"


def is_finished(pod: Obj) -> bool:
    """Whether all of a pod's containers have ended for good."""
    return phase_of(pod) in ("Succeeded", "Failed")


def is_active(pod: Obj) -> bool:
    """Whether a pod's controller counts it: neither finished nor being deleted."""
    return not is_finished(pod) and not is_leaving(pod)


def node_of(pod: Obj) -> str:
    """The node that a pod is bound to, or empty."""
    return str(pod["spec"].get("nodeName", ""))


def requests_of(pod: Obj) -> Mapping[str, float]:
    """What the scheduler keeps free for a pod, in cores, bytes and the like."""
    return msgspec.convert(pod["spec"], PodSpec).requests


def scaled(value: int | str, total: int, *, round_up: bool) -> int:
    """A number, or a percentage of a total, rounded as asked (intstr.GetScaledValue)."""
    if isinstance(value, int):
        return value
    digits = value.rstrip("%").lstrip("0")
    percent = int(digits[:10] or 0)  # of any more the API server allows any number
    return -(-percent * total // 100) if round_up else percent * total // 100
