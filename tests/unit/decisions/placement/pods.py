"""New pods as the API server shows them to a webhook, and what a patch makes of them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from evenkeel.model.meta import KubernetesObject
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Operation
from evenkeel_sandbox.simulator.api.patches import json_patch
from tests.kit.builders import owner_reference

KEYS = (
    "node.kubernetes.io/capacity",
    "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacity-type",
)
type Document = dict[str, Any]


def document(
    owner: KubernetesObject | None = None,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    name: str = "",
    **spec: Any,
) -> Document:
    """A pod's JSON; only what is given is there."""
    metadata: Document = {"generateName": "web-"} if not name else {"name": name}
    if labels is not None:
        metadata["labels"] = labels
    if annotations is not None:
        metadata["annotations"] = annotations
    if owner is not None:
        metadata["ownerReferences"] = [msgspec.to_builtins(owner_reference(owner))]
    return {"metadata": metadata, "spec": {"containers": [{"name": "main"}], **spec}}


def new_pod(owner: KubernetesObject | None = None, **fields: Any) -> NewPod:
    """The same, as placement reads it."""
    return read(document(owner, **fields))


def read(pod: Document) -> NewPod:
    """A pod's JSON as placement reads it."""
    return msgspec.convert(pod, NewPod)


def patched(pod: Document, patch: Sequence[Operation]) -> Document:
    """A pod's JSON after a patch."""
    wire = msgspec.json.encode([operation.to_wire() for operation in patch])
    changed: Document = json_patch(pod, msgspec.json.decode(wire))
    return changed


def required(*terms: Document) -> Document:
    """An affinity that requires one of these terms."""
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}
        }
    }


def clause(key: str, operator: str, *values: str) -> Document:
    """One clause about a node's labels."""
    return {"key": key, "operator": operator, "values": list(values)}


def term(*clauses: Document) -> Document:
    """A term of these clauses."""
    return {"matchExpressions": list(clauses)}
