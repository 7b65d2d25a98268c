"""The handler of the restore function: the schedule's event, whatever is in it."""

from typing import Any

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.remedies import nothing_done
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope
from evenkeel.handlers import Handler
from evenkeel.ports import Clock, Cluster, Queue, Recorder
from evenkeel.settings import Mode, RestoreSettings


def build(
    settings: RestoreSettings, cluster: Cluster, wake_ups: Queue, clock: Clock, recorder: Recorder
) -> Handler:
    """Build the handler. It answers with an empty object.

    It raises NothingDoneError where the API server let it do nothing at all.
    """
    flow = RestoreFlow(
        Terms(moves=settings.moves),
        Scope(
            everywhere=settings.everywhere,
            managed_only=True,
            capacity_labels=settings.capacity_labels,
            defaults_required=settings.defaults_required,
        ),
        cluster,
        wake_ups,
        clock,
        recorder,
        acts=settings.mode is Mode.ACT,
    )

    def handle(_event: dict[str, Any], _context: object) -> dict[str, Any]:
        try:
            outcome = flow.run_if_any()
            recorder.noted(
                "run ended",
                outcome=outcome.reason,
                planned=len(outcome.plan.steps),
                done=len(outcome.done),
            )
            if outcome.error is not None and not outcome.done:
                raise nothing_done(outcome.error) from outcome.error
        finally:
            recorder.flush()
        return {}

    return handle
