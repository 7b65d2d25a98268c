"""What a decision about a group of pods comes to."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.model.decision import Decision
from evenkeel.model.pod import Pod


class Candidate(msgspec.Struct, frozen=True):
    """A pod that may be released as soon as its turn comes."""

    pod: Pod
    deadline: Deadline


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about one workload's pods now.

    ``steps`` hold however old the cache is. ``fresh_steps`` take a pod away from its
    workload: they hold only on a fresh watch, or a fresh, consistent read. ``candidates`` wait
    for their turn in the window, ``forced`` for their slot in the agenda. ``due`` is when the plan
    changes although nothing else does.
    """

    steps: Sequence[Decision] = ()
    fresh_steps: Sequence[Decision] = ()
    candidates: Sequence[Candidate] = ()
    forced: Sequence[Forced] = ()
    due: datetime | None = None
