"""What the API server said to a write: is what was asked for in its reply?"""

from collections.abc import Sequence
from typing import Final

from evenkeel.decisions.drain import writes
from evenkeel.errors import ClusterError, UndoneError
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from evenkeel.ports import Reply

UNDONE: Final = "accepted, but the reply shows it undone: a webhook or a policy takes it back"


def undoing(reply: Reply) -> Sequence[Patch]:
    """What takes back the part of a release that was accepted, if another part was undone.

    The release is the request's own: its annotation may be what was undone.
    """
    request, pod = reply.request, reply.result
    release = writes.release_in(request) if isinstance(request, Patch) else None
    if release is None or not isinstance(pod, Pod) or not has_any_of_release(pod):
        return []
    return [writes.roll_back_patch(pod, release)]


def has_any_of_release(pod: Pod) -> bool:
    """Whether a pod has a label, an annotation or the owner that a release gives it."""
    marks = names.RELEASED_FROM in pod.metadata.labels or names.RELEASE in pod.metadata.annotations
    return marks or pod.released


def error_in(reply: Reply) -> ClusterError | None:
    """The error of a reply; UndoneError where a patch was accepted and its object is without it."""
    request, found = reply.request, reply.result
    if reply.error is not None or not isinstance(request, Patch):
        return reply.error
    if not isinstance(found, KubernetesObject) or request.is_shown_by(found):
        return None
    return UndoneError(f"{request.reference}: {UNDONE}")
