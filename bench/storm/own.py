"""What Evenkeel's own requests amount to, from how many there were of each kind."""

from collections.abc import Mapping
from typing import Final

PAUSE: Final = "GET configmaps"
"""The question whether it is paused."""


def to_cluster(requests: Mapping[str, int]) -> int:
    """All that went to the API server."""
    return sum(count for kind, count in requests.items() if not kind.startswith("AWS "))


def gets(requests: Mapping[str, int]) -> int:
    """Reads of single objects; the pause aside, which is asked by the second, not by the pod."""
    return sum(
        count for kind, count in requests.items() if kind.startswith("GET ") and kind != PAUSE
    )


def pauses(requests: Mapping[str, int]) -> int:
    """How often the pause was asked."""
    return requests.get(PAUSE, 0)
