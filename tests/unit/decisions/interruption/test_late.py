"""Which pods go too late."""

import pytest

from evenkeel.decisions.interruption.late import is_late
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from tests.kit import builders

POD = builders.pod("one")


def evicted(reason: Reason, *, forced: bool = False, warning: bool = False) -> Decision:
    return Decision.about(POD, Verb.EVICT, reason, "it goes", forced=forced, warning=warning)


@pytest.mark.parametrize(
    ("decision", "behind", "late"),
    [
        (evicted(Reason.REPLACEMENT_AVAILABLE), Reason.REPLACEMENT_PENDING, False),
        (evicted(Reason.LAST_MOMENT, forced=True), Reason.REPLACEMENT_PENDING, False),
        (evicted(Reason.LAST_MOMENT, forced=True, warning=True), Reason.NO_PLACE, True),
        (evicted(Reason.LAST_MOMENT, forced=True, warning=True), "", True),
        (evicted(Reason.LAST_MOMENT, forced=True, warning=True), Reason.JOB_MAY_FINISH, False),
        (evicted(Reason.LAST_MOMENT, forced=True, warning=True), Reason.BARE_POD, False),
        (evicted(Reason.RECREATE, warning=True), Reason.RECREATE, False),
        (evicted(Reason.NODE_GONE), Reason.REPLACEMENT_PENDING, True),
    ],
    ids=[
        "handed over",
        "by force after its replacement was available",
        "by force before",
        "by force, and nothing else is known",
        "by force, a Job's that might have finished",
        "by force, a bare one",
        "one that cannot be replaced first",
        "with its node",
    ],
)
def test_a_pod_is_late_that_goes_with_its_node_or_by_force(
    decision: Decision, behind: str, *, late: bool
) -> None:
    assert is_late(decision, behind) == late
