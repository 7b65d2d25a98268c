"""Whether a pod goes too late: with its node, or before its replacement is available."""

from typing import Final

from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason

AT_THE_END: Final = frozenset(
    {
        Reason.LAST_MOMENT,
        Reason.BUDGET_REFUSED_AT_LAST_MOMENT,
        Reason.EVICTION_REFUSED_AT_LAST_MOMENT,
    }
)
"""Reasons behind which there is another one: why it came to that."""

LAST_ON_PURPOSE: Final = frozenset({Reason.JOB_MAY_FINISH, Reason.BARE_POD})
"""Reasons for which a pod stays to its last moment although it could go before."""


def is_late(decision: Decision, behind: str) -> bool:
    """Whether a decision to let a pod go comes too late.

    Its node is gone, or it goes by force. ``behind``: the reason of the last decision about it that
    was not one ``AT_THE_END``. A pod that is meant to go at the last moment is not late by that.
    """
    if decision.reason == Reason.NODE_GONE:
        return True
    return decision.forced and decision.warning and behind not in LAST_ON_PURPOSE
