"""The namespace that Evenkeel's own objects are in, made where a write finds it missing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from evenkeel.errors import AlreadyExistsError, NotFoundError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Write
from evenkeel.ports import Reply

HOME: Final = Create(Namespace(metadata=Metadata(name=names.SYSTEM_NAMESPACE)))


def perform(
    carry_out: Callable[[Sequence[Write]], Sequence[Reply]], writes: Sequence[Write]
) -> Sequence[Reply]:
    """Carry out writes; if some lack the namespace, make it and carry these out again.

    If it cannot be made, their replies carry that error.
    """
    replies = carry_out(writes)
    homeless = []
    for position, reply in enumerate(replies):
        made = reply.request.object if isinstance(reply.request, Create) else None
        is_own = made is not None and made.namespace == names.SYSTEM_NAMESPACE
        if is_own and isinstance(reply.error, NotFoundError):
            homeless.append(position)
    if not homeless:
        return replies
    (home,) = carry_out([HOME])
    if home.error is None or isinstance(home.error, AlreadyExistsError):
        again = carry_out([writes[position] for position in homeless])
    else:
        again = [replace(replies[position], error=home.error) for position in homeless]
    found = dict(zip(homeless, again, strict=True))
    return [found.get(position, reply) for position, reply in enumerate(replies)]
