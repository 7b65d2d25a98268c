"""The scheduler's extender: its two calls in JSON.

What cannot be answered is an answer that a scheduler with ``ignorable`` goes on without: an error
from the filter, no scores from the other.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from evenkeel.errors import EvenkeelError, UnreadableError
from evenkeel.flows.scheduling.extender import Extender
from evenkeel.handlers.requests import Answerer, RefusedError
from evenkeel.model.decoding import decoded
from evenkeel.model.metrics import Metric
from evenkeel.model.scheduling import ExtenderArgs, FilterResult, HostPriority
from evenkeel.ports import Recorder

FILTER: Final = "/filter"
PRIORITIZE: Final = "/prioritize"
"""What follows the token in the path: the verbs of the scheduler's configuration."""

_ARGS = msgspec.json.Decoder(ExtenderArgs)


def answerers(extender: Extender, recorder: Recorder) -> Mapping[str, Answerer]:
    """Who answers at the extender's paths."""
    return {
        FILTER: partial(_filter, extender, recorder),
        PRIORITIZE: partial(_prioritize, extender, recorder),
    }


def _filter(extender: Extender, recorder: Recorder, body: bytes) -> bytes:
    args = _args(body)
    try:
        found = extender.filter(args)
    except Exception as error:  # noqa: BLE001 - the pod is scheduled without it, whatever fails
        found = FilterResult(error=_told(recorder, error))
    return msgspec.json.encode(found)


def _prioritize(extender: Extender, recorder: Recorder, body: bytes) -> bytes:
    args = _args(body)
    scores: Sequence[HostPriority] = ()
    try:
        scores = extender.prioritize(args)
    except Exception as error:  # noqa: BLE001 - as above
        _told(recorder, error)
    return msgspec.json.encode(scores)


def _args(body: bytes) -> ExtenderArgs:
    try:
        return decoded(_ARGS, body)
    except UnreadableError:
        raise RefusedError(400, "the body is no ExtenderArgs") from None


def _told(recorder: Recorder, error: Exception) -> str:
    """Why there is no answer; of what nobody expected the name alone."""
    what = str(error) if isinstance(error, EvenkeelError) else type(error).__name__
    recorder.counted(Metric.EXTENDER_UNANSWERED)
    recorder.noted(f"the scheduler goes on without an answer: {what}", error=type(error).__name__)
    return what
