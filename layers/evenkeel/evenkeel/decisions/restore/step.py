"""What a plan consists of: steps with their writes in order, and what is left as it is."""

from collections.abc import Sequence
from typing import Unpack

import msgspec

from evenkeel.decisions.restore.snapshot import Case
from evenkeel.model.decision import Decision, Details, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Write


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do. ``decision.write`` does it.

    What has to be accepted ``before``, in this order, else it is not done; what follows ``after``
    an accepted write. ``workload`` is the key of whose step it is. ``moves`` so many pods: a run
    has a budget of them, of which a write that ``rolls`` a workload out takes one, too.
    ``without_room``: no node has room for what is moved; few such steps are taken at once.
    """

    workload: str
    decision: Decision
    before: Sequence[Write] = ()
    after: Sequence[Write] = ()
    moves: int = 0
    rolls: bool = False
    without_room: bool = False

    @property
    def counts(self) -> int:
        """What it takes of a run's budget."""
        return self.moves or int(self.rolls)

    @property
    def writes(self) -> Sequence[Write]:
        """All its writes in their order."""
        write = self.decision.write
        return [*self.before, *([] if write is None else [write]), *self.after]


type Outcome = Step | Decision
"""What becomes of a workload: a step, or a decision that writes nothing."""


class RestorePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do now, in this order, and what is left or waits, with the reasons.

    ``rest``: what is noted of moves without room. Unless it is, none of these is begun.
    """

    steps: Sequence[Step] = ()
    left: Sequence[Decision] = ()
    rest: Decision | None = None


def leave(
    case: Case, reason: Reason, message: str, *, verb: Verb = Verb.LEAVE, **details: Unpack[Details]
) -> Decision:
    """Leave a workload as it is, or wait for something."""
    return about(case, verb, reason, message, **details)


def about(
    case: Case,
    verb: Verb,
    reason: Reason,
    message: str,
    *,
    pod: Pod | None = None,
    **details: Unpack[Details],
) -> Decision:
    """A decision about a pod of a workload, or about the workload itself."""
    workload = case.workload
    details.setdefault("workload", workload.reference)
    return Decision.about(pod or workload, verb, reason, message, **details)
