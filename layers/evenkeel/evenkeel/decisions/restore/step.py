"""What a plan consists of: steps with their writes in order, and what is left as it is."""

from collections.abc import Sequence

import msgspec

from evenkeel.model.decision import Decision
from evenkeel.model.request import Write


class RestoreStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do. ``decision.write`` does it.

    What has to be accepted ``before``, in this order, else it is not done; what follows ``after``
    an accepted write. ``moves`` so many pods: a run has a budget of them, of which a write that
    ``rolls`` a workload out takes one, too.
    ``shortage``: why no spot node has room for what is moved, empty if one has. Few such steps are
    taken at once.
    """

    decision: Decision
    before: Sequence[Write] = ()
    after: Sequence[Write] = ()
    moves: int = 0
    rolls: bool = False
    shortage: str = ""

    @property
    def workload(self) -> str:
        """The key of the workload whose step it is."""
        of = self.decision.workload or self.decision.subject
        return f"{of.namespace}/{of.uid}"

    @property
    def counts(self) -> int:
        """What it takes of a run's budget."""
        return self.moves or int(self.rolls)


type StepOrDecision = RestoreStep | Decision
"""What becomes of a workload: a step, or a decision that writes nothing."""


class RestorePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do now, in this order, and what is left or waits, with the reasons.

    ``rest``: what is noted of moves without room. Unless it is, none of these is begun.
    """

    steps: Sequence[RestoreStep] = ()
    left: Sequence[Decision] = ()
    rest: Decision | None = None
