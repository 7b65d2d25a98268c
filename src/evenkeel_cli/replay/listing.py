"""What a replay comes to, for programs: its decisions, with the plan or with what was seen."""

from collections.abc import Sequence

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel_cli.history.listing import WorkloadHistory
from evenkeel_cli.output import Item, Listing
from evenkeel_cli.planned_moves import PlannedMove
from evenkeel_cli.report import MoveReport


class ReplayPlan(Item, frozen=True, kw_only=True):
    """What events would do to a real cluster: the first decisions, and how its pods would go."""

    decisions: Sequence[DecisionRecord]
    moves: Sequence[PlannedMove]


class ReplayPlanList(Listing, frozen=True, kw_only=True):
    """What ``evenkeel replay --context`` prints."""

    items: Sequence[ReplayPlan]


class ReplayResult(Item, frozen=True, kw_only=True):
    """What events did: every decision, what became of workloads and how many pods went how.

    ``failed`` are the workloads that had too few pods, or none, for no reason that is named.
    """

    decisions: Sequence[DecisionRecord]
    workloads: Sequence[WorkloadHistory]
    moves: Sequence[MoveReport]
    failed: Sequence[Reference]


class ReplayResultList(Listing, frozen=True, kw_only=True):
    """What ``evenkeel replay`` prints of a simulation, and with ``--apply``."""

    items: Sequence[ReplayResult]
