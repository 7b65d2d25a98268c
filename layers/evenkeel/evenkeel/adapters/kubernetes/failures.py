"""The API server's refusals as Evenkeel's errors, and what the headers of its answers say."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
    UnreadableError,
)
from evenkeel.model.decoding import decoded
from evenkeel.model.meta import BUDGET_CAUSE, Status
from evenkeel.model.times import is_sound

SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
"""Part of the message of the 500 that the eviction of a pod with two budgets answers.

pkg/registry/core/pod/storage/eviction.go has had it since 1.5; there is no code for it.
"""

DENIED = "denied the request"
"""Part of the message of a webhook's or a policy's refusal, whichever code it chose.

The API server puts it before their own words: its staging/src/k8s.io/apiserver has it in
pkg/admission/plugin/webhook/errors/statuserror.go. A 429 with it is no word on the server's load.
"""

LONGEST_RETRY_AFTER = 60.0
"""No server is believed that asks for a longer rest, in seconds: nodes die in two minutes."""

BY_STATUS: Mapping[int, type[ClusterError]] = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    410: ExpiredError,
    422: InvalidError,
}


def read_status(body: bytes) -> Status:
    """The Status in an answer; a proxy's page instead of one becomes its message."""
    try:
        return decoded(Status, body)
    except UnreadableError:
        return Status(message=body[:200].decode(errors="replace").strip())


def failure(what: str, code: int, body: bytes, retry_after: str | None = None) -> ClusterError:
    """The error for an answer that is no success.

    ``what`` says what was asked, ``retry_after`` is the header's value, in seconds.
    """
    status = read_status(body)
    message = f"{what}: {code} {status.message or status.reason}".rstrip()
    if code == 409:
        exists = status.reason == "AlreadyExists"
        return AlreadyExistsError(message) if exists else ConflictError(message)
    if code in BY_STATUS:
        return BY_STATUS[code](message)
    causes = status.details.causes if status.details else ()
    if code == 429 and any(cause.reason == BUDGET_CAUSE for cause in causes):
        refused_by = "; ".join(cause.message for cause in causes if cause.message)
        asked = status.details.retry_after_seconds if status.details else 0
        return DisruptionRefusedError(f"{message} {refused_by}".rstrip(), float(asked))
    if code in (429, 503) and DENIED not in status.message:
        return ThrottledError(message, _seconds(retry_after, status))
    if code == 500 and SEVERAL_BUDGETS in status.message:
        return MultipleBudgetsError(message)
    if code >= 500:
        return UnavailableError(message)
    return ClusterError(message)


def time_in(header: str | None) -> datetime | None:
    """The time of an answer's Date header; None if there is none, or it makes no sense."""
    try:
        time = parsedate_to_datetime(header or "")
    except (ValueError, OverflowError):
        return None
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return time if is_sound(time) else None


def warnings_in(headers: Sequence[str]) -> tuple[str, ...]:
    """The texts of an answer's Warning headers: ``299 - "text"``.

    https://kubernetes.io/blog/2020/09/03/warnings/
    """
    texts = (header.partition('"')[2].rpartition('"')[0] for header in headers)
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in texts)


def _seconds(header: str | None, status: Status) -> float:
    """How long the server asks to wait; a second where it does not say, or gives a date."""
    if header is not None and header.strip().isdecimal():
        return min(float(header), LONGEST_RETRY_AFTER)
    asked = status.details.retry_after_seconds if status.details else 0
    return float(min(asked, LONGEST_RETRY_AFTER)) if asked > 0 else 1.0
