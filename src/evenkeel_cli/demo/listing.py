"""What the demo comes to, for programs."""

from collections.abc import Sequence

from evenkeel.model.meta import Reference
from evenkeel_cli.demo.ratios import WorkloadRatio
from evenkeel_cli.history.listing import WorkloadHistory
from evenkeel_cli.output import Item, Listing
from evenkeel_cli.report import MoveReport


class DemoResult(Item, frozen=True, kw_only=True):
    """What became of workloads in the storm, how many pods went how, and where pods are then.

    ``failed`` are the workloads that had too few pods, or none, for no reason that is named.
    """

    workloads: Sequence[WorkloadHistory]
    moves: Sequence[MoveReport]
    failed: Sequence[Reference]
    ratios: Sequence[WorkloadRatio]


class DemoResultList(Listing, frozen=True, kw_only=True):
    """What ``evenkeel demo`` prints."""

    items: Sequence[DemoResult]
