"""Reading from the cluster: single objects, listings, and many objects by few requests."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any, overload

from evenkeel.errors import (
    ClusterError,
    ForbiddenError,
    NotFoundError,
    ThrottledError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnreadableObjectError,
)
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, List, Listing, Read, Selection
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
    return items_of(cluster.perform(requests))


def items_of(replies: Sequence[Reply]) -> Sequence[Sequence[Any]]:
    """The items of the listings that these replies carry. Raises ClusterError."""
    return [listing.items for listing in listings(replies)]


def listings(replies: Sequence[Reply]) -> Sequence[Listing[Any]]:
    """The listings that these replies carry. Raises ClusterError."""
    found = []
    for reply in replies:
        listing = answer(reply)
        assert isinstance(listing, Listing)  # noqa: S101 - a List answers a Listing
        found.append(listing)
    return found


def of_kind[T](kind: type[T], *answers: object) -> list[T]:
    """The objects of this kind in the listings among some answers."""
    listings = (each for each in answers if isinstance(each, Listing))
    return [item for each in listings for item in each.items if isinstance(item, kind)]


def allowed_items(replies: Sequence[Reply]) -> Sequence[Sequence[Any] | None]:
    """As ``items_of``; None for what may not be read, and nothing of a kind that is not served."""
    found: list[Sequence[Any] | None] = []
    for reply in replies:
        if isinstance(reply.error, ForbiddenError):
            found.append(None)
        elif isinstance(reply.error, NotFoundError):
            found.append(())
        else:
            found += items_of([reply])
    return found


def read_all(cluster: Cluster, requests: Sequence[Read]) -> Sequence[Reply]:
    """The replies to these, but more than ``MANY`` objects of a namespace by one listing.

    Each is read by itself where listing is forbidden, because the rights may be older than the
    code, or where even these are too much: that is its namespace's matter. Raises ClusterError as
    ``shown`` does of the namespaces' single objects.
    """
    single = [each for each in requests if isinstance(each, Get)]
    groups = Counter(Selection(each.kind, each.namespace) for each in single if each.namespace)
    many = [selection for selection, number in groups.items() if number > MANY]
    wanted = {(each.kind, each.namespace, each.name) for each in single}
    lists = [List(selection, kept=partial(_if_among, wanted)) for selection in many]
    listed = dict[Selection[Any], Mapping[str, KubernetesObject]]()
    for selection, reply in zip(many, cluster.perform(lists), strict=True):
        if not isinstance(reply.error, ForbiddenError | TooLargeError):
            (items,) = items_of([reply])
            listed[selection] = {item.name: item for item in items}
    found = dict[Read, Reply]()
    for each in single:
        if (where := Selection(each.kind, each.namespace)) in listed:
            item = listed[where].get(each.name)
            error = NotFoundError(f"there is no {each.name}") if item is None else None
            found[each] = Reply(each, item, error)
    others = [each for each in requests if each not in found]
    found |= zip(others, cluster.perform(others), strict=True)
    shown([found[each] for each in others if isinstance(each, Get) and each.namespace])
    return [found[each] for each in requests]


def _if_among[T: KubernetesObject](wanted: Container[object], item: T) -> T | None:
    return item if (type(item), item.namespace, item.name) in wanted else None


def shown(replies: Sequence[Reply]) -> Sequence[Reply]:
    """The same replies about single objects, if their errors are about these objects.

    One object must not keep all others from being read: a tenant may have named it. Raises the
    ClusterError of a reply without an answer, and the first one where the API server refuses every
    object of a kind that is in every cluster. That one does not exist, or cannot be decoded, is
    about that one.
    """
    own = [
        each
        for each in answered(replies)
        if not isinstance(each.request, Get) or not each.request.kind.resource.is_custom
    ]
    errors = [each.error for each in own if each.error is not None]
    of_one = any(isinstance(each, NotFoundError | UnreadableObjectError) for each in errors)
    if len(errors) == len(own) and not of_one:
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
