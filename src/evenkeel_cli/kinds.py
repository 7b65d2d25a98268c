"""All kinds of results that commands print with ``-o json``, and their JSON schema."""

import json
from typing import Final

from evenkeel_cli import output
from evenkeel_cli.commands.version import ComponentList
from evenkeel_cli.cost.listing import WorkloadCostList
from evenkeel_cli.demo.listing import DemoResultList
from evenkeel_cli.doctor.listing import FindingList
from evenkeel_cli.draining.pods import StayedPodList
from evenkeel_cli.explain.listing import ExplanationList
from evenkeel_cli.history.listing import WorkloadHistoryList
from evenkeel_cli.history.timeline import PodHistoryList
from evenkeel_cli.install.steps import StepStateList
from evenkeel_cli.journal import DecisionList
from evenkeel_cli.nodes.listing import DoomedNodeList
from evenkeel_cli.output import Listing
from evenkeel_cli.pausing import PauseList
from evenkeel_cli.planned_moves import PlannedMoveList
from evenkeel_cli.replay.listing import ReplayPlanList, ReplayResultList
from evenkeel_cli.restoring.listing import RestoreDayList, WorkloadRestoreList
from evenkeel_cli.screen.views import ScreenList
from evenkeel_cli.simulate.listing import WorkloadRiskList
from evenkeel_cli.status.listing import WorkloadStatusList

KINDS: Final[tuple[type[Listing], ...]] = (
    ComponentList,
    DecisionList,
    DemoResultList,
    ExplanationList,
    FindingList,
    DoomedNodeList,
    PauseList,
    PlannedMoveList,
    PodHistoryList,
    ReplayPlanList,
    ReplayResultList,
    RestoreDayList,
    ScreenList,
    StayedPodList,
    StepStateList,
    WorkloadCostList,
    WorkloadHistoryList,
    WorkloadRestoreList,
    WorkloadRiskList,
    WorkloadStatusList,
)


def schema() -> str:
    """The text of docs/reference/output.schema.json."""
    return json.dumps(output.schema(KINDS), indent=2).replace("``", "`") + "\n"
