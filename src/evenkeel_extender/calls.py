"""The scheduler's extender: its two calls in JSON.

A scheduler with ``ignorable`` goes on without an answer: the filter says an error then, and the
other call gives no scores.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from evenkeel.errors import EvenkeelError, UnreadableError
from evenkeel.handlers.requests import Answerer, RefusedError
from evenkeel.model.decoding import decoded
from evenkeel.model.metrics import Metric
from evenkeel.ports import Recorder
from evenkeel_extender.extender import Extender
from evenkeel_extender.messages import ExtenderArgs, FilterResult, HostPriority

FILTER: Final = "/filter"
PRIORITIZE: Final = "/prioritize"
"""What follows the token in the path: the verbs of the scheduler's configuration."""


def answerers(extender: Extender, recorder: Recorder) -> Mapping[str, Answerer]:
    """The answerers at the extender's paths."""
    return {
        FILTER: partial(_filter, extender, recorder),
        PRIORITIZE: partial(_prioritize, extender, recorder),
    }


def _filter(extender: Extender, recorder: Recorder, body: bytes) -> bytes:
    args = _args(body)
    try:
        found = extender.filter(args)
    except Exception as error:  # noqa: BLE001 - the pod is scheduled without it, whatever fails
        found = FilterResult(error=_unanswered(recorder, error))
    return msgspec.json.encode(found)


def _prioritize(extender: Extender, recorder: Recorder, body: bytes) -> bytes:
    args = _args(body)
    scores: Sequence[HostPriority] = ()
    try:
        scores = extender.prioritize(args)
    except Exception as error:  # noqa: BLE001 - as above
        _unanswered(recorder, error)
    return msgspec.json.encode(scores)


def _args(body: bytes) -> ExtenderArgs:
    try:
        return decoded(ExtenderArgs, body)
    except UnreadableError:
        raise RefusedError(400, "the body is no ExtenderArgs") from None


def _unanswered(recorder: Recorder, error: Exception) -> str:
    """Record why there is no answer, and say it; of an unexpected error the name alone."""
    what = str(error) if isinstance(error, EvenkeelError) else type(error).__name__
    recorder.counted(Metric.EXTENDER_UNANSWERED)
    recorder.noted(f"the scheduler goes on without an answer: {what}", error=type(error).__name__)
    return what
