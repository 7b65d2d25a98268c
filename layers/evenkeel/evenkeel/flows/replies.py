"""What the API server said to a write: is what was asked for in its reply?"""

from typing import Final

from evenkeel.errors import ClusterError, UndoneError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Patch
from evenkeel.ports import Reply

UNDONE: Final = "accepted, but the reply shows it undone: a webhook or a policy takes it back"


def error_in(reply: Reply) -> ClusterError | None:
    """The error of a reply; UndoneError where a patch was accepted and its object is without it."""
    request, found = reply.request, reply.result
    if reply.error is not None or not isinstance(request, Patch):
        return reply.error
    if not isinstance(found, KubernetesObject) or request.is_shown_by(found):
        return None
    return UndoneError(f"{request.reference}: {UNDONE}")
