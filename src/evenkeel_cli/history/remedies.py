"""What an owner can change so that the next interruption does not do the same."""

from collections.abc import Mapping
from typing import Final

from evenkeel.model import names
from evenkeel.model.reasons import Reason
from evenkeel_cli.program import NAME

_ROOM: Final = f"keep room free for replacements ({NAME} headroom), or let them start sooner"
_MORE_TIME: Final = f"keep replicas on on-demand nodes (annotation {names.ON_DEMAND})"

BY_REASON: Final[Mapping[str, str]] = {
    "": _MORE_TIME,
    Reason.TOO_LATE_FOR_HANDOVER: _MORE_TIME,
    Reason.NODE_GONE: _MORE_TIME,
    Reason.RECREATE: "set the strategy to RollingUpdate",
    Reason.SINGLE_NODE_VOLUME: "use a ReadWriteMany volume",
    Reason.HANDOVER_NEVER: f"take the annotation {names.HANDOVER} off",
    Reason.NO_SURGE: "set maxSurge to 1 or more",
    Reason.NO_TEMPLATE_HASH: "run it under a Deployment",
    Reason.SELECTED_BY_HASH: f"take {names.TEMPLATE_HASH} out of the selector",
    Reason.BARE_POD: "run it under a Deployment, StatefulSet or Job",
    Reason.QUOTA_REFUSES: "leave room in the quota of its namespace for one pod more",
    Reason.REPLACEMENT_PENDING: _ROOM,
    Reason.NO_PLACE: _ROOM,
    Reason.CANNOT_BE_REPLACED: "let its ReplicaSet make pods: kubectl describe says what"
    " refuses them",
    Reason.STATEFUL_SET: "have more replicas than must serve: each ordinal exists once",
}
"""By the reason for which a pod went without an available replacement."""
