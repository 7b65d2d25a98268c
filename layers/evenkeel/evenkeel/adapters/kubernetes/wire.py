"""Requests as HTTP."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from evenkeel.errors import InvalidError
from evenkeel.model.meta import Resource
from evenkeel.model.names import FIELD_MANAGER, is_path_segment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Delete, Evict, Get, List, Patch, Selection

PAGE = 500
"""Objects per page of a fresh list: a page of pods is some 5 MB."""

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request. ``target`` is path and query; ``what`` names it in errors.

    A call that is ``safe`` changes nothing, so it may be tried again whatever became of it. The
    answer to one that is ``packed`` may come compressed: the API server does so from 128 KiB on.
    """

    method: str
    target: str
    what: str
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    safe: bool = False
    packed: bool = False
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Put the headers together, once for all tries."""
        headers = {"Accept": self.accept}
        if self.packed:
            headers["Accept-Encoding"] = "gzip"
        if self.body is not None:
            headers["Content-Type"] = self.content_type
        object.__setattr__(self, "headers", headers)


def get(request: Get[Any]) -> Call:
    """Read one object. Raises InvalidError for what can be no name."""
    resource = request.kind.resource
    target = object_path(resource, request.namespace, request.name)
    return Call(
        "GET", target, f"get {_named(resource, request.namespace, request.name)}", safe=True
    )


def page(request: List[Any], resource: Resource, continued: str = "", size: int = PAGE) -> Call:
    """Read a page of a list; ``size`` 0 asks for all the rest at once.

    A page of pods is some 15 times smaller compressed, and costs no more processor time here.
    ``resource`` is that of the request's kind, in the version to ask for.
    """
    query = selectors(request.selection)
    if not request.fresh:
        query["resourceVersion"] = "0"
    limit = min(request.limit or size, size or request.limit) if request.fresh else request.limit
    if limit:
        query["limit"] = str(limit)
    if continued:
        query["continue"] = continued
    return Call(
        "GET",
        _with(path(resource, request.selection.namespace), query),
        f"list {described(request.selection)}",
        accept=METADATA_ONLY if request.metadata_only else JSON,
        safe=True,
        packed=True,
    )


def watch(selection: Selection[Any], resource_version: str, seconds: int) -> Call:
    """Follow a selection from a resource version on, for so many seconds."""
    query = selectors(selection) | {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": resource_version,
        "timeoutSeconds": str(seconds),
    }
    return Call(
        "GET",
        _with(path(selection.kind.resource, selection.namespace), query),
        f"watch {described(selection)}",
        safe=True,
    )


def patch(request: Patch) -> Call:
    """Change one object. Raises InvalidError for what can be no name."""
    resource = request.kind.resource
    target = object_path(resource, request.namespace, request.name, request.subresource)
    return Call(
        "PATCH",
        _with(target, {"fieldManager": FIELD_MANAGER}),
        f"patch {_named(resource, request.namespace, request.name)}",
        body=request.to_wire(),
        content_type=request.content_type,
    )


def create(request: Create) -> Call:
    """Make an object."""
    resource = request.object.resource
    manifest = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        **msgspec.to_builtins(request.object),
    }
    target = path(resource, request.object.namespace)
    return Call(
        "POST",
        _with(target, {"fieldManager": FIELD_MANAGER}),
        f"create {_named(resource, request.object.namespace, request.object.name)}",
        body=msgspec.json.encode(manifest),
    )


def delete(request: Delete) -> Call:
    """Delete one object, and what it owns after it, as kubectl does.

    Raises InvalidError for what can be no name: without one it would be all of them.
    """
    resource = request.kind.resource
    options: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
    }
    preconditions = {"uid": request.uid, "resourceVersion": request.resource_version}
    if any(preconditions.values()):
        options["preconditions"] = {key: value for key, value in preconditions.items() if value}
    if request.grace_seconds is not None:
        options["gracePeriodSeconds"] = request.grace_seconds
    return Call(
        "DELETE",
        object_path(resource, request.namespace, request.name),
        f"delete {_named(resource, request.namespace, request.name)}",
        body=msgspec.json.encode(options),
    )


def evict(request: Evict) -> Call:
    """Evict one pod. The uid alone is the precondition.

    A stale resourceVersion would answer 409 only after the budget has been taken.
    """
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": request.name, "namespace": request.namespace},
        "deleteOptions": {"preconditions": {"uid": request.uid}},
    }
    return Call(
        "POST",
        _with(
            object_path(Pod.resource, request.namespace, request.name, "eviction"),
            {"fieldManager": FIELD_MANAGER},
        ),
        f"evict {_named(Pod.resource, request.namespace, request.name)}",
        body=msgspec.json.encode(eviction),
    )


def path(resource: Resource, namespace: str = "") -> str:
    """Where the objects of a kind live: ``/apis/apps/v1/namespaces/n/...``.

    Raises InvalidError if what stands for the namespace can be no name.
    """
    parts = ["apis", resource.group] if resource.group else ["api"]
    parts.append(resource.version)
    if namespace and resource.namespaced:
        parts += ["namespaces", _checked(namespace)]
    parts.append(resource.plural)
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def object_path(resource: Resource, namespace: str, name: str, subresource: str = "") -> str:
    """Where one object lives, or a subresource of it.

    Raises InvalidError for what can be no name: the path would lead somewhere else, without a
    name to all objects of the kind. A stranger's annotation can have brought it here.
    """
    parts = [_checked(name), subresource] if subresource else [_checked(name)]
    return path(resource, namespace) + "".join(f"/{quote(part, safe='')}" for part in parts)


def _checked(name: str) -> str:
    if not is_path_segment(name):
        raise InvalidError(f"{name!r} can be no object's name")
    return name


def selectors(selection: Selection[Any]) -> dict[str, str]:
    """A selection as query parameters."""
    query = {"labelSelector": selection.labels, "fieldSelector": selection.fields}
    return {name: value for name, value in query.items() if value}


def described(selection: Selection[Any]) -> str:
    """A selection for people: ``pods in shop (app=web)``."""
    where = f" in {selection.namespace}" if selection.namespace else ""
    which = ", ".join(selectors(selection).values())
    return f"{selection.kind.resource.plural}{where}" + (f" ({which})" if which else "")


def _with(target: str, query: dict[str, str]) -> str:
    return f"{target}?{urlencode(query)}" if query else target


def _named(resource: Resource, namespace: str, name: str) -> str:
    where = f"{namespace}/" if namespace and resource.namespaced else ""
    return f"{resource.kind.lower()} {where}{name}"
