"""The namespace that Evenkeel's own objects are in, made where a write finds it missing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from evenkeel.errors import AlreadyExistsError, NotFoundError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Request, Write
from evenkeel.ports import Reply

HOME: Final = Create(Namespace(metadata=Metadata(name=names.SYSTEM_NAMESPACE)))


def perform(
    carry_out: Callable[[Sequence[Write]], Sequence[Reply]], writes: Sequence[Write]
) -> Sequence[Reply]:
    """Carry out writes; if some lack the namespace, make it and carry these out again.

    If it cannot be made, their replies carry that error.
    """
    replies = carry_out(writes)
    lacking = [each for each in enumerate(replies) if isinstance(each[1].error, NotFoundError)]
    homeless = [position for position, reply in lacking if _is_own(reply.request)]
    if not homeless:
        return replies
    (made,) = carry_out([HOME])
    if made.error is None or isinstance(made.error, AlreadyExistsError):
        again = carry_out([writes[position] for position in homeless])
    else:
        again = [replace(replies[position], error=made.error) for position in homeless]
    found = dict(zip(homeless, again, strict=True))
    return [found.get(position, reply) for position, reply in enumerate(replies)]


def _is_own(request: Request) -> bool:
    """Whether it makes an object in Evenkeel's namespace."""
    return isinstance(request, Create) and request.object.namespace == names.SYSTEM_NAMESPACE
