"""The ways that pods can go."""

from enum import StrEnum


class Way(StrEnum):
    """Ways a pod can go."""

    HANDOVER = "handover"
    """Make before break: release it, wait until the replacement is available, evict it."""

    RATIONED = "rationed"
    """Break before make, one at a time, or as many as its Deployment's maxUnavailable.

    Where its controller's kind says this way, a pod with a budget goes ``AT_ONCE``.
    """

    AT_ONCE = "at-once"
    """Break before make, now: waiting would only take time from the replacement."""

    BY_ORDINAL = "by-ordinal"
    """Break before make, one ordinal of the StatefulSet at a time."""

    AT_LAST_MOMENT = "at-last-moment"
    """Leave it running as long as its node lives, then evict it."""

    STAY = "leave"
    """Not Evenkeel's to move."""
