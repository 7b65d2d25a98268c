"""What an owner can change so that a pod's replacement is there in time.

What gives the pod another way stands beside each way (``route``, ``two_at_once``).
"""

from typing import Final

from evenkeel.model import names

MORE_TIME: Final = f"keep replicas on on-demand nodes (annotation {names.ON_DEMAND})"

ROOM: Final = "keep room free for replacements (evenkeel headroom), or let them start sooner"

LOOSER_RULES: Final = "let its rules take more nodes, or have nodes that they take"

PODS_MADE: Final = "let its ReplicaSet make pods: kubectl describe says what refuses them"

ROOM_IN_QUOTA: Final = "leave room in the quota of its namespace for one pod more"

_OF_ROOM: Final = ("Insufficient", "Too many pods", "taint", "unschedulable", "no nodes available")
"""Words of the scheduler for nodes that fail for what a further node would not fail for.

A doomed node bears a taint and takes the pod otherwise: another one of its kind would.
"""


def for_place(refused: str) -> str:
    """What helps where the scheduler has a node for no replacement, by what it says of that.

    Where all nodes fail by the pod's own rules free room on them is of no use.
    """
    return ROOM if any(word in refused for word in _OF_ROOM) else LOOSER_RULES
