"""Evictions that wait at the gate, as far as their pods tell."""

from datetime import datetime

import msgspec

from evenkeel.model.pod import Pod
from evenkeel.model.times import in_words


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """An eviction that waits: of the pod of this name, who asked for it first, and when.

    ``until``: by when it passes without a replacement that starts; None where the pod waits for its
    turn to be released.
    """

    pod: str
    by: str
    since: datetime
    until: datetime | None = None

    @property
    def message(self) -> str:
        """Who asked, since when, and what it waits for; a sentence without its full stop."""
        asked = (
            f"Pod {self.pod}: {self.by or 'somebody'} asked at {in_words(self.since)} to evict it"
        )
        if self.until is None:
            return f"{asked}; it is released in its turn, and was not yet"
        end = in_words(self.until)
        return f"{asked}; that passes when its replacement is available, by {end} if none starts"


def waiting(pod: Pod) -> Waiting | None:
    """The eviction of this pod that waits; None without one."""
    release = pod.release if pod.released else None
    if release is not None and release.is_asked:
        return Waiting(
            pod=pod.name, by=release.asked_by, since=release.since, until=release.deadline
        )
    asked = pod.asked
    if asked is None or pod.released:
        return None
    return Waiting(pod=pod.name, by=asked.by, since=asked.since)
