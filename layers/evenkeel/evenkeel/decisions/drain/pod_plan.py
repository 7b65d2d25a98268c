"""What a decider says of one pod."""

from datetime import datetime
from typing import NamedTuple

import msgspec

from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.model.decision import Decision
from evenkeel.model.pod import Pod


class Candidate(msgspec.Struct, frozen=True):
    """A pod that may be released as soon as its turn comes."""

    pod: Pod
    deadline: Deadline


type Step = Decision | Candidate | Forced | None
"""A decision for now, a turn to wait for, or a slot in the agenda of forced evictions.

None: nothing is to be done before the plan is due.
"""


class PodPlan(NamedTuple):
    """What a decider says of a pod, or of its workload, and when it says otherwise by time alone.

    - ``needs_fresh``: it takes the pod away from its workload, and holds only while all pods of
      that are known as of a second ago.
    - ``awaits_pods``: it changes with the other pods of the workload, and an invocation stays for
      it. No invocation stays for a released pod on a node without a notice: its node lives, and a
      tenant may have forged the release, or the ReplicaSet's note, which may take hours to stop.
    """

    step: Step = None
    due: datetime | None = None
    needs_fresh: bool = False
    awaits_pods: bool = False
