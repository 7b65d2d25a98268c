"""What an owner can change so that the next interruption does not do the same."""

from collections.abc import Mapping
from typing import Final

from evenkeel.model import names
from evenkeel_cli.program import NAME

_ROOM: Final = f"keep room free for replacements ({NAME} headroom), or let them start sooner"
_MORE_TIME: Final = f"keep replicas on on-demand nodes (annotation {names.ON_DEMAND})"

BY_REASON: Final[Mapping[str, str]] = {
    "": _MORE_TIME,
    "TooLateForHandover": _MORE_TIME,
    "NodeGone": _MORE_TIME,
    "Recreate": "set the strategy to RollingUpdate",
    "SingleNodeVolume": "use a ReadWriteMany volume",
    "HandoverNever": f"take the annotation {names.HANDOVER} off",
    "NoSurge": "set maxSurge to 1 or more",
    "NoTemplateHash": "run it under a Deployment",
    "SelectedByHash": f"take {names.TEMPLATE_HASH} out of the selector",
    "BarePod": "run it under a Deployment, StatefulSet or Job",
    "QuotaRefuses": "leave room in the quota of its namespace for one pod more",
    "ReplacementPending": _ROOM,
    "NoPlace": _ROOM,
    "CannotBeReplaced": "let its ReplicaSet make pods: kubectl describe says what refuses them",
    "StatefulSet": "have more replicas than must serve: each ordinal exists once",
}
"""By the reason for which a pod went without an available replacement."""
