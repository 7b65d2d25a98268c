"""What was decided about one object, step by step."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision about an object, and when it was made.

    ``until``: when a wait, or the object's time, ends. ``way``, ``cause`` and ``remedy``: see
    ``DecisionRecord``.
    """

    at: datetime
    verb: str
    reason: str
    message: str
    warning: bool = False
    forced: bool = False
    until: datetime | None = None
    way: str = ""
    cause: str = ""
    remedy: str = ""


def of(story: Iterable[DecisionRecord]) -> Sequence[Step]:
    """The steps of these records."""
    return [
        Step(
            at=each.time,
            verb=each.verb,
            reason=each.reason,
            message=each.message,
            warning=each.warning,
            forced=each.forced,
            until=each.until,
            way=each.way,
            cause=each.cause,
            remedy=each.remedy,
        )
        for each in story
    ]
