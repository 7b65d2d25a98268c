"""One request, carried out."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from evenkeel.adapters.kubernetes import wire
from evenkeel.adapters.kubernetes.objects import (
    ListMetadata,
    Page,
    expected,
    identity,
    read_object,
)
from evenkeel.adapters.kubernetes.room import Room, too_much
from evenkeel.adapters.kubernetes.transport import Answered, Transport
from evenkeel.errors import (
    ClusterError,
    ExpiredError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
    UnreadableObjectError,
)
from evenkeel.model.meta import KubernetesObject, Resource
from evenkeel.model.request import Create, Delete, Evict, Get, List, Listing, Patch, Request
from evenkeel.ports import Reply, TimeLeft

SMALLER: Final = 8
"""By how much smaller a page is asked for after one that was too large."""


def answer(transport: Transport, request: Request, left: TimeLeft | None = None) -> Reply:
    """Carry out one request and wait for its answer; an error is part of the reply.

    ``left``: how long from now a write may be tried; None: as long as the transport's limits say.
    """
    try:
        found = _result(transport, request, left)
        return Reply(request, result=found.read, date=found.date)
    except ClusterError as error:
        return Reply(request, error=error, date=error.date)


def read_list(transport: Transport, request: List[Any]) -> Listing[Any]:
    """Read a list, page by page where it is long. Raises ClusterError.

    When the pages' common resource version is lost on the way, which takes minutes on a
    quiet cluster and less on a busy one, the list is read once more in one piece. A piece that is
    too large is read in smaller ones. A server that always knows of one page more is not followed
    for longer than ``Limits.listing``. A kind is read in the version that is served; NotFoundError
    says that there is none.
    """
    until = transport.listing_ends
    resource = request.selection.kind.resource
    missing = None
    for version in transport.versions.of(resource):
        try:
            found = _read_version(transport, request, version, until)
        except NotFoundError as error:
            missing = error
        else:
            transport.versions.is_served(resource, version)
            unread = too_much(request.selection, found.unread)
            transport.left_out(unread)
            if unread and request.selection.namespace:
                # Not where it was read: an error keeps what its frames have.
                raise TooLargeError(str(unread[0]))
            return found
    assert missing is not None  # noqa: S101 - a kind has a version
    raise transport.versions.none_of(resource, missing) from missing


def _result(transport: Transport, request: Request, left: TimeLeft | None) -> Answered[Any]:
    match request:
        case Get():
            return _object(transport, wire.get(request), request.kind)
        case List():
            return Answered(read_list(transport, request), None)
        case Patch():
            return _written(transport, wire.patch(request), request.kind, left)
        case Create():
            return _written(transport, wire.create(request), type(request.object), left)
        case Delete():
            return transport.exchange(wire.delete(request), _nothing, left=left)
        case Evict():
            return transport.exchange(wire.evict(request), _nothing, left=left)


def _nothing(_: bytearray) -> None:
    """What is read of an answer that says no more than that it is done."""


def _object[T: KubernetesObject](
    transport: Transport, call: wire.Call, kind: type[T], left: TimeLeft | None = None
) -> Answered[T]:
    try:
        return transport.exchange(call, lambda body: read_object(kind, body, call.what), left=left)
    except UnreadableObjectError as error:
        transport.left_out([error])
        raise


def _written[T: KubernetesObject](
    transport: Transport, call: wire.Call, kind: type[T], left: TimeLeft | None
) -> Answered[T]:
    """The object that a write answers; one that cannot be read tells nothing of the write."""
    try:
        return _object(transport, call, kind, left)
    except UnreadableObjectError as error:
        raise UnavailableError(str(error)) from error


def _read_version(
    transport: Transport, request: List[Any], resource: Resource, until: datetime
) -> Listing[Any]:
    try:
        return _read_pages(transport, request, resource, wire.PAGE, until)
    except ExpiredError:
        return _read_pages(transport, request, resource, 0, until)


def _read_pages(
    transport: Transport, request: List[Any], resource: Resource, size: int, until: datetime
) -> Listing[Any]:
    version, continued, is_first = "", "", True
    found, room = list[Any](), Room()
    is_one = bool(request.selection.namespace)
    while is_first or (continued and not (request.limit and found) and not (is_one and room.full)):
        call = wire.page(request, resource, continued, size)
        try:
            read = partial(_page, request, call, room)
            page, items, left_out = transport.exchange(call, read, until).read
        except TooLargeError:
            if size == 1:
                raise
            if request.fresh:
                size = max(1, (size or wire.PAGE) // SMALLER)
            # The API server's cache knows no pages: what is too large there is read past it.
            request = replace(request, fresh=True)
            continue
        # A watch from the first page's version misses nothing that changed meanwhile.
        version = page.resource_version if is_first else version
        found += items
        transport.left_out(left_out)
        before, continued, is_first = continued, page.continue_, False
        if continued and continued == before:
            raise UnavailableError(f"{call.what}: its pages go round in circles")
    if room.full:
        found = [item for item in found if room.of(item) not in room.full]
    # Of a limited list the first page with something that is kept is all that is read.
    kept = tuple(found[: request.limit or None])
    return Listing(kept, version, room.size, frozenset(room.full))


def _page(
    request: List[Any], call: wire.Call, room: Room, body: bytearray
) -> tuple[ListMetadata, list[Any], list[UnreadableObjectError]]:
    """What is kept of a page, object by object, and what is left out. Raises UnavailableError."""
    page, kind = expected(Page, body, call.what), request.selection.kind
    found, left_out = list[Any](), list[UnreadableObjectError]()
    for piece in page.items or ():
        if room.full and identity(piece, call.what).namespace in room.full:
            continue
        try:
            item = read_object(kind, piece, call.what)
        except UnreadableObjectError as error:
            left_out.append(error.with_traceback(None))  # which would keep the page
            continue
        kept = item if request.kept is None else request.kept(item)
        if kept is not None and room.takes(kept):
            found.append(kept)
    return page.metadata, found, left_out
