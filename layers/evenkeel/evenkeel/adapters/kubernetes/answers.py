"""One request, carried out."""

from datetime import datetime
from typing import Any

from evenkeel.adapters.kubernetes import wire
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.errors import ClusterError, ExpiredError, UnavailableError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Create, Delete, Evict, Get, List, Listing, Patch, Request
from evenkeel.ports import Reply, TimeLeft


def answer(transport: Transport, request: Request, left: TimeLeft | None = None) -> Reply:
    """Carry out one request and wait for its answer; an error is part of the reply.

    ``left``: how long from now a write may be tried; None: as long as the transport's limits say.
    """
    try:
        return Reply(request, result=_result(transport, request, left))
    except ClusterError as error:
        return Reply(request, error=error)


def read_list(transport: Transport, request: List[Any]) -> Listing[Any]:
    """Read a list, page by page where it is long. Raises ClusterError.

    When the pages' common resource version is lost on the way, which takes minutes on a
    quiet cluster and less on a busy one, the list is read once more in one piece. A server
    that always knows of one page more is not followed for longer than ``Limits.listing``.
    """
    until = transport.listing_ends
    try:
        return _read_pages(transport, request, wire.PAGE, until)
    except ExpiredError:
        return _read_pages(transport, request, 0, until)


def _result(
    transport: Transport, request: Request, left: TimeLeft | None
) -> KubernetesObject | Listing[KubernetesObject] | None:
    match request:
        case Get():
            found: KubernetesObject = _object(transport, wire.get(request), request.kind)
            return found
        case List():
            return read_list(transport, request)
        case Patch():
            return _object(transport, wire.patch(request), request.kind, left)
        case Create():
            return _object(transport, wire.create(request), type(request.object), left)
        case Delete():
            transport.exchange(wire.delete(request), left=left)
        case Evict():
            transport.exchange(wire.evict(request), left=left)
    return None


def _object[T: KubernetesObject](
    transport: Transport, call: wire.Call, kind: type[T], left: TimeLeft | None = None
) -> T:
    return wire.decode(wire.object_decoder(kind), transport.exchange(call, left=left), call.what)


def _read_pages(
    transport: Transport, request: List[Any], size: int, until: datetime
) -> Listing[Any]:
    pages: list[wire.Page[Any]] = []
    continued = ""
    while not pages or (continued and not wire.suffices(pages[-1], request)):
        call = wire.page(request, continued, size)
        decoder = wire.page_decoder(request.selection.kind)
        page = wire.decode(decoder, transport.exchange(call, until), call.what)
        pages.append(wire.only_kept(page, request))
        before, continued = continued, pages[-1].metadata.continue_
        if continued and continued == before:
            raise UnavailableError(f"{call.what}: its pages go round in circles")
    return wire.listing(pages, request.limit)
