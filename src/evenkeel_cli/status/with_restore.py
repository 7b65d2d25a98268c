"""What is off with a workload, and what restore does about it."""

from collections.abc import Sequence
from typing import Final

import msgspec

from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason
from evenkeel_cli.decisions.remarks import Remark, of_standing
from evenkeel_cli.decisions.waiting import Waiting

OFF: Final = (Reason.BELOW_FLOOR, Reason.ABOVE_FLOOR)
"""Remarks that restore does something about."""

SAID_ANYWAY: Final = {
    Reason.FLOOR_RELAXED: "floor relaxed",
    Reason.COOLING_DOWN: "cooling down",
    Reason.NO_SPOT: "template without its spread",
    Reason.ROLLING_OUT: "rolling out",
    Reason.NO_COMMON_LABEL: "no common label",
    Reason.TEMPLATE_RESTS: "template rests",
    Reason.TEMPLATE_UNDONE: "template undone",
}
"""What restore says of a workload that is worth a word of its own."""


def remarks(
    standing: Standing, evictions: Sequence[Waiting], restore: Decision | None
) -> Sequence[Remark]:
    """What is off, worst first; ``restore`` is what restore decides about the workload."""
    found = list(of_standing(standing, evictions))
    if restore is None or not standing.is_managed:
        return found
    told = [
        msgspec.structs.replace(each, message=_message(each, standing, restore)) for each in found
    ]
    brief = SAID_ANYWAY.get(restore.reason)
    if brief is not None:
        told.append(Remark(restore.reason, brief, restore.message, warning=restore.warning))
    return told


def _message(remark: Remark, standing: Standing, restore: Decision) -> str:
    """What a remark says, and restore about it; of pods that wait restore may say more."""
    if remark.reason in OFF:
        return f"{remark.message}; {_does(restore)}"
    if restore.reason is Reason.PODS_WAIT:
        return remark.message.replace(standing.told_of_waiting, restore.message)
    return remark.message


def _does(restore: Decision) -> str:
    if restore.write is None:
        return f"now it does not: {restore.message}"
    return f"next: {restore.verb} {restore.subject.name}, {restore.message}"
