"""What an owner can change so that a pod's replacement is there in time.

What gives the pod another way stands beside each way (``route``, ``two_at_once``).
"""

from typing import Final

from evenkeel.model import names

MORE_TIME: Final = f"keep replicas on on-demand nodes (annotation {names.ON_DEMAND})"

ROOM: Final = "keep room free for replacements (evenkeel headroom), or let them start sooner"

STARTS: Final = "let it start beside the pod that it replaces: kubectl logs --previous says why not"

LOOSER_RULES: Final = "let its rules take more nodes, or have nodes that they take"

PODS_MADE: Final = "let its ReplicaSet make pods: kubectl describe says what refuses them"

ROOM_IN_QUOTA: Final = "leave room in the quota of its namespace for one pod more"

_FULL: Final = ("Insufficient", "Too many pods", "no nodes available")
"""Words of the scheduler for nodes that a further node of their kind would stand in for."""

_CLOSED: Final = ("taint", "unschedulable")
"""Its words for nodes that are doomed, or others': of a doomed one's kind another would do."""

_OF_ANOTHER_KIND: Final = "node affinity/selector"
"""Its words for nodes that the pod's node selector or node affinity refuses."""


def for_place(refused: str) -> str:
    """What helps where the scheduler has a node for no replacement, by what it says of that.

    Free room is of no use where no node that is open has what the pod's own rules ask for.
    """
    is_full = any(word in refused for word in _FULL)
    is_closed = any(word in refused for word in _CLOSED)
    return ROOM if is_full or (is_closed and _OF_ANOTHER_KIND not in refused) else LOOSER_RULES
