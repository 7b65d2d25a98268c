"""The handler of the handover function: wake-ups from its queue, and the schedule's event."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.errors import MalformedWakeUpError
from evenkeel.flows.drain.invocation import HandoverFlow
from evenkeel.flows.drain.lease.sharing import Call
from evenkeel.flows.drain.loop import Outcome
from evenkeel.flows.drain.telling import Telling
from evenkeel.flows.remedies import nothing_done
from evenkeel.handlers import Handler, time_left
from evenkeel.handlers.records import (
    Record,
    failures,
    is_batch,
    postpone,
    read_batch,
    read_wake_up,
)
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import NodeNotice, WakeUp
from evenkeel.ports import Ports, Queue, Recorder, TimeLeft
from evenkeel.settings import HandoverSettings


def build(
    settings: HandoverSettings, ports: Ports, wake_ups: Queue, call: Call | None = None
) -> Handler:
    """Build the handler. ``call`` has another invocation share a large storm; None: a wake-up does.

    It answers wake-ups with a partial batch response: while work is left one of them stays
    in the queue and becomes visible again after the outcome's pause. To the schedule it
    answers with an empty object, and sends a wake-up if it leaves work and none is known to
    come in time. Its own queue gets no other message from it: Lambda stops functions that
    feed themselves.

    Where the API server let it do nothing at all, all wake-ups come back; the schedule's
    invocation raises NothingDoneError.
    """
    telling = Telling(settings, ports.notifications, ports.clock, ports.recorder)
    recorder = Tee(ports.recorder, telling.of) if telling.is_on else ports.recorder
    call = None if settings.stands_in else call or partial(_wake_others, wake_ups)
    flow = HandoverFlow(settings, replace(ports, recorder=recorder), telling, call)

    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        left = time_left(context)
        try:
            if is_batch(event):
                return _woken(flow, read_batch(event), wake_ups, left, recorder)
            outcome = flow.run(scheduled=True, left=left)
            _conclude(outcome, recorder)
            if outcome.error is not None:
                raise nothing_done(outcome.error) from outcome.error
            if outcome.again_in is not None and not outcome.needs_no_wake_up:
                wake_up = WakeUp(reason=outcome.reason)
                wake_ups.send(wake_up, outcome.again_in)
            return {}
        finally:
            recorder.flush()

    return handle


def _wake_others(wake_ups: Queue, number: int) -> None:
    """One after the other: wake-ups that come together lead to one invocation."""
    for second in range(number):
        wake_ups.send(WakeUp(reason="Divided"), timedelta(seconds=second))


def _woken(
    flow: HandoverFlow,
    records: Sequence[Record],
    wake_ups: Queue,
    left: TimeLeft | None,
    recorder: Recorder,
) -> dict[str, Any]:
    """One run for all wake-ups of a batch; while work is left one of them comes back.

    If the run could do nothing, all come back: in observe mode each carries notices of its own. It
    raises nothing then, or the batch would come back only when its visibility timeout ends.
    """
    assumed: dict[str, NodeNotice] = {}
    sound: list[Record] = []
    for record in records:
        try:
            wake_up = read_wake_up(record)
            assumed |= wake_up.notices
            sound.append(record)
        except MalformedWakeUpError as error:
            recorder.counted(Metric.WAKE_UPS_MALFORMED)
            recorder.noted(str(error))
    if not sound:
        return failures(())
    kept = sound[0]
    outcome = flow.run(
        assumed,
        hide=partial(wake_ups.postpone, kept.receipt_handle),
        left=left,
    )
    _conclude(outcome, recorder)
    if outcome.again_in is None:
        return failures(())
    back = [kept] if outcome.error is None else sound
    postpone([(record, outcome.again_in) for record in back], wake_ups, recorder)
    return failures([record.message_id for record in back])


def _conclude(outcome: Outcome, recorder: Recorder) -> None:
    again = outcome.again_in
    recorder.noted(
        "invocation ended",
        outcome=outcome.reason,
        again_in_seconds=None if again is None else again.total_seconds(),
    )
