"""What has to be done about an Eviction, and what its status is told of the gate's verdict."""

from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final

from evenkeel.decisions.gate.eviction import Allowed, Verdict
from evenkeel.model.request import Operation, Patch, pointer
from evenkeel.model.times import in_words
from evenkeel_responder.eviction import NAME, Eviction, State

HEARTBEAT: Final = timedelta(minutes=3)
"""How often a responder says that it is at work. After 20 minutes it is passed over."""

NEWS_AFTER: Final = timedelta(seconds=20)
"""The API asks responders for no more than one heartbeat in so long; news waits until then."""

LONGEST_MESSAGE: Final = 4_000
"""Characters, of the API's own."""


class Task(Enum):
    """What has to be done about an Eviction."""

    NONE = auto()
    ANSWER = auto()
    TAKE_BACK = auto()


def task_of(eviction: Eviction, *, is_deleted: bool = False) -> Task:
    """What has to be done about an Eviction as it is now.

    It is to be answered while Evenkeel is its active responder and has not said that it is done.
    What was begun for one that is canceled, or deleted meanwhile, is to be taken back. The
    evictions of others are theirs, and one whose time ran out is none of Evenkeel's any more.
    """
    is_active = eviction.state == State.ACTIVE
    if eviction.state == State.CANCELED or (is_active and is_deleted):
        return Task.TAKE_BACK
    is_done = any(each.completion_time for each in eviction.status.responders if each.name == NAME)
    return Task.ANSWER if is_active and not is_done and not is_deleted else Task.NONE


def report(eviction: Eviction, verdict: Verdict, now: datetime) -> Patch | None:
    """What the status of an Eviction is told of a verdict; None: nothing now.

    Allowed: Evenkeel is done, and the next responder evicts the pod, which is Kubernetes' own
    unless the pod names others. Deferred: it is at work, by when it ends at the latest, and on what
    it waits. The API server takes no time before the responder's start, which is by another clock.
    """
    responders = eviction.status.responders
    found = next((n for n, each in enumerate(responders) if each.name == NAME), None)
    if found is None:
        return None
    status, message = responders[found], verdict.message[:LONGEST_MESSAGE]
    at = max(now, status.start_time or now)
    said = {"heartbeatTime": in_words(at), "message": message}
    if isinstance(verdict, Allowed):
        said["completionTime"] = in_words(at)
    else:
        if verdict.until is not None:
            said["expectedCompletionTime"] = in_words(max(verdict.until, at))
        rests = NEWS_AFTER if message != status.message else HEARTBEAT
        if status.heartbeat_time is not None and at - status.heartbeat_time < rests:
            return None
    path = ("status", "responders", found)
    return Patch(
        kind=Eviction,
        name=eviction.name,
        namespace=eviction.namespace,
        subresource="status",
        body=(
            Operation("test", "/metadata/uid", eviction.uid),
            Operation("test", pointer(*path, "name"), NAME),
            *(Operation("add", pointer(*path, key), value) for key, value in said.items()),
        ),
    )
