"""Reading from the cluster: single objects, listings, and many objects by few requests."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, overload

from evenkeel.errors import (
    ClusterError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, List, Listing, Selection
from evenkeel.ports import Cluster, Reply

MANY = 8
"""From more objects than this of one kind and namespace on, one listing reads them."""


@overload
def ask[T: KubernetesObject](cluster: Cluster, request: Get[T]) -> T: ...
@overload
def ask[T: KubernetesObject](cluster: Cluster, request: List[T]) -> Listing[T]: ...
def ask[T: KubernetesObject](cluster: Cluster, request: Get[T] | List[T]) -> T | Listing[T]:
    """Read one object or one listing. Raises the ClusterError that the reply carries."""
    (reply,) = cluster.perform([request])
    return answer(reply)  # type: ignore[return-value] # a reply's type follows its request's


def ask_for_one[T: KubernetesObject](cluster: Cluster, request: Get[T]) -> T | None:
    """Read one object; None if there is none. Raises other ClusterErrors."""
    try:
        return ask(cluster, request)
    except NotFoundError:
        return None


def answer(reply: Reply) -> KubernetesObject | Listing[KubernetesObject] | None:
    """The result of a reply. Raises the ClusterError that it carries."""
    if reply.error is not None:
        raise reply.error
    return reply.result


def list_all(cluster: Cluster, requests: Sequence[List[Any]]) -> Sequence[Sequence[Any]]:
    """The items of several listings, in the order of the requests. Raises ClusterError."""
    found = []
    for reply in cluster.perform(requests):
        listing = answer(reply)
        assert isinstance(listing, Listing)  # noqa: S101 - a List answers a Listing
        found.append(listing.items)
    return found


def find_all(cluster: Cluster, requests: Mapping[str, Get[Any]]) -> dict[str, KubernetesObject]:
    """As ``get_all``, but more than ``MANY`` of one kind and namespace by one listing.

    Where listing is forbidden each is read by itself: the rights may be older than the code. Raises
    ClusterError.
    """
    groups: defaultdict[Selection[Any], set[str]] = defaultdict(set)
    for uid, request in requests.items():
        groups[Selection(request.kind, request.namespace)].add(uid)
    listed = [selection for selection, uids in groups.items() if len(uids) > MANY]
    replies = cluster.perform([List(selection) for selection in listed])
    found = {
        item.key: item
        for reply in replies
        if isinstance(listing := _unless_forbidden(reply), Listing)
        for item in listing.items
        if item.key in requests
    }
    missing = {uid: request for uid, request in requests.items() if uid not in found}
    return found | get_all(cluster, missing)


def _unless_forbidden(reply: Reply) -> KubernetesObject | Listing[KubernetesObject] | None:
    return None if isinstance(reply.error, ForbiddenError) else answer(reply)


def get_all(cluster: Cluster, requests: Mapping[str, Get[Any]]) -> dict[str, KubernetesObject]:
    """The objects that exist and have the key by which they are asked for, by that key.

    One that the API server refuses to show is left out like one that does not exist: no pod is
    taken from a controller that cannot be read. Raises ClusterError as ``shown`` does.
    """
    found: dict[str, KubernetesObject] = {}
    replies = shown(cluster.perform(list(requests.values())))
    for key, reply in zip(requests, replies, strict=True):
        if isinstance(reply.result, KubernetesObject) and reply.result.key == key:
            found[key] = reply.result
    return found


def shown(replies: Sequence[Reply]) -> Sequence[Reply]:
    """The same replies about single objects, if their errors are about these objects.

    One object must not keep all others from being read: a tenant may have named it. Raises the
    ClusterError of a reply without an answer, and the first one where the API server refuses every
    object for another reason than that it does not exist.
    """
    errors = [reply.error for reply in answered(replies) if reply.error is not None]
    if len(errors) == len(replies) and not any(isinstance(e, NotFoundError) for e in errors):
        for error in errors:
            raise error
    return replies


def answered(replies: Sequence[Reply]) -> Sequence[Reply]:
    """The same replies, refusals too. Raises the ClusterError of one without an answer."""
    for reply in replies:
        if reply.error is not None and is_unanswered(reply.error):
            raise reply.error
    return replies


def is_unanswered(error: ClusterError) -> bool:
    """Whether an error says nothing about the object: the API server did not answer."""
    return isinstance(error, UnavailableError | ThrottledError | UnauthenticatedError)
