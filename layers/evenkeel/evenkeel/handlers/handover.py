"""The handler of the handover function: wake-ups from its queue, and the schedule's event."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from evenkeel.errors import MalformedWakeUpError, QueueError
from evenkeel.flows.handover.flow import HandoverFlow
from evenkeel.flows.handover.outcome import Outcome
from evenkeel.flows.handover.tenure import TimeLeft
from evenkeel.handlers import Handler, time_left
from evenkeel.handlers.records import Record, failures, is_batch, read_batch, read_wake_up
from evenkeel.model.notice import NodeNotice, WakeUp
from evenkeel.ports import Clock, Cluster, Instances, Queue, Recorder
from evenkeel.settings import HandoverSettings


def build(
    settings: HandoverSettings,
    cluster: Cluster,
    instances: Instances,
    wake_ups: Queue,
    clock: Clock,
    recorder: Recorder,
) -> Handler:
    """Build the handler.

    It answers wake-ups with a partial batch response: while work is left one of them stays
    in the queue and becomes visible again after the outcome's pause. To the schedule it
    answers with an empty object, and sends a wake-up if it leaves work and none is known to
    come in time. Its own queue gets no other message from it: Lambda stops functions that
    feed themselves.
    """
    flow = HandoverFlow(settings, cluster, instances, clock, recorder)

    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        left = time_left(context)
        try:
            if is_batch(event):
                return _woken(flow, read_batch(event), wake_ups, left, recorder)
            outcome = flow.run(scheduled=True, left=left)
            _conclude(outcome, recorder)
            if outcome.again_in is not None and not outcome.awaited:
                wake_up = WakeUp(reason=outcome.reason, taking=outcome.taking)
                wake_ups.send(wake_up, outcome.again_in)
            return {}
        finally:
            recorder.flush()

    return handle


def _woken(
    flow: HandoverFlow,
    records: Sequence[Record],
    wake_ups: Queue,
    left: TimeLeft | None,
    recorder: Recorder,
) -> dict[str, Any]:
    """Several wake-ups say the same as one: one run serves all, one of them comes back.

    Those that only watch over a holder of the Lease matter only among themselves, and only
    when they come for the first time: one that comes back does so because work is left.
    """
    assumed: dict[str, NodeNotice] = {}
    sound: list[Record] = []
    takings: list[str] = []
    for record in records:
        try:
            wake_up = read_wake_up(record)
            assumed |= wake_up.notices
            takings.append(wake_up.taking if record.receives == 1 else "")
            sound.append(record)
        except MalformedWakeUpError as error:
            recorder.counted("WakeUpsMalformed")
            recorder.noted(str(error))
    if not sound:
        return failures(())
    kept = sound[0]
    outcome = flow.run(
        assumed,
        watched=takings if all(takings) else (),
        hide=partial(wake_ups.postpone, kept.receipt_handle),
        left=left,
    )
    _conclude(outcome, recorder)
    if outcome.again_in is None:
        return failures(())
    try:
        wake_ups.postpone(kept.receipt_handle, outcome.again_in)
    except QueueError as error:
        recorder.noted(f"the wake-up comes back when its visibility timeout ends: {error}")
    return failures([kept.message_id])


def _conclude(outcome: Outcome, recorder: Recorder) -> None:
    again = outcome.again_in
    recorder.noted(
        "invocation ended",
        outcome=outcome.reason,
        again_in_seconds=None if again is None else again.total_seconds(),
    )
