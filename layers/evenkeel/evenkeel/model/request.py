"""Requests to the Kubernetes API as values, so that they can be decided, logged and tested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from evenkeel.model.meta import KubernetesObject, Reference


class Unset:
    """The type of ``UNSET``: an operation without a value."""


UNSET: Final = Unset()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a JSON patch (RFC 6902). ``value`` is any JSON value."""

    op: str
    path: str
    value: object = UNSET

    def is_shown_by(self, found: object) -> bool:
        """Whether JSON is as if the operation was carried out; a test asks for nothing.

        What was at a place of an array before it was taken away, nobody can tell afterwards.
        """
        if self.op == "test":
            return True
        *above, last = (
            part.replace("~1", "/").replace("~0", "~") for part in self.path.split("/")[1:]
        )
        for part in above:
            found = _at(found, part)
        if isinstance(found, tuple):
            return self.op == "remove" or _includes(found, [self.value])
        there = _at(found, last)
        return not there if self.op == "remove" else _includes(there, self.value)

    def to_wire(self) -> dict[str, object]:
        """The operation as JSON would have it."""
        wire: dict[str, object] = {"op": self.op, "path": self.path}
        if self.value is not UNSET:
            wire["value"] = self.value
        return wire


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901) to these keys, escaped: ``metadata, a/b`` -> ``/metadata/a~1b``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _at(found: object, part: str) -> object:
    """What is at a key of an object or at a place of an array; None if nothing is."""
    if isinstance(found, tuple):
        return found[int(part)] if part.isdecimal() and int(part) < len(found) else None
    return found.get(part) if isinstance(found, Mapping) else None


def _includes(found: object, wanted: object) -> bool:
    """Whether JSON is what is wanted, where both say something: Evenkeel reads some fields only.

    Arrays of objects are tuples where they were read, and lists where they are written.
    """
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return all(_includes(found.get(key, value), value) for key, value in wanted.items())
    if isinstance(found, tuple) and isinstance(wanted, list):
        return all(any(_includes(each, one) for each in found) for one in wanted)
    return found == wanted or (not found and not wanted)


def as_read(item: KubernetesObject) -> tuple[Operation, Operation]:
    """The tests by which a patch fails if anything about an object has changed since."""
    return (
        Operation("test", "/metadata/uid", item.uid),
        Operation("test", "/metadata/resourceVersion", item.metadata.resource_version),
    )


@dataclass(frozen=True, slots=True)
class Get[T: KubernetesObject]:
    """Read one object. Answers the object; NotFoundError without it."""

    kind: type[T]
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Selection[T: KubernetesObject]:
    """Which objects of a kind: of one namespace or of all, by labels, by fields.

    ``labels`` and ``fields`` are selectors in the API's own syntax
    (``app=web,tier in (a,b),!canary`` and ``spec.nodeName=n1``); empty selects everything.
    """

    kind: type[T]
    namespace: str = ""
    labels: str = ""
    fields: str = ""


@dataclass(frozen=True, slots=True)
class List[T: KubernetesObject]:
    """Read all objects of a selection. Answers a Listing.

    ``fresh`` asks etcd (no resourceVersion); otherwise the API server's cache may answer,
    a moment stale (resourceVersion=0): good enough to find candidates, never to decide.
    ``limit`` answers so many objects at most (0: all), for questions such as "is there any".
    ``metadata_only`` asks for PartialObjectMetadata: spec and status stay at their defaults.
    ``kept`` says what of each object is kept, as soon as its page is read: a list of everything may
    have no room in memory. With a ``limit`` pages of so many are read up to the first of which
    something is kept.
    """

    selection: Selection[T]
    fresh: bool = True
    limit: int = 0
    metadata_only: bool = False
    kept: Callable[[T], T | None] | None = None


@dataclass(frozen=True, slots=True)
class Listing[T: KubernetesObject]:
    """The objects of a selection and the resource version that they were read at.

    ``size``: so many bytes of them are kept. ``unread``: the namespaces of which nothing is kept,
    because it would be more than one may have; a list of one namespace is an error then.
    """

    items: Sequence[T]
    resource_version: str
    size: int = 0
    unread: frozenset[str] = frozenset()

    @property
    def revision(self) -> int:
        """The resource version as a number; 0 if there is none."""
        return int(self.resource_version or 0)


@dataclass(frozen=True, slots=True)
class Patch:
    """Change one object. Answers the object as it is then.

    ``body`` is a sequence of Operation (a JSON patch) or a mapping (a JSON merge patch).
    A failed ``test`` operation answers InvalidError, an old resourceVersion in a merge
    patch ConflictError.
    """

    kind: type[KubernetesObject]
    name: str
    body: Sequence[Operation] | Mapping[str, Any]
    namespace: str = ""
    subresource: str = ""

    @property
    def reference(self) -> Reference:
        """The object to change."""
        return Reference(kind=self.kind.resource.kind, namespace=self.namespace, name=self.name)

    def is_shown_by(self, item: KubernetesObject) -> bool:
        """Whether an object is as the patch wants it, as far as Evenkeel reads objects.

        The reply to an accepted patch need not be: a webhook or a policy may have put back what the
        patch changed.
        """
        if isinstance(self.body, Mapping):
            return _includes(msgspec.to_builtins(item), self.body)
        parts = {operation.path.split("/")[1] for operation in self.body}  # metadata, spec, status
        found = {part: msgspec.to_builtins(getattr(item, part)) for part in parts}
        return all(operation.is_shown_by(found) for operation in self.body)

    def to_wire(self) -> bytes:
        """The body as JSON."""
        if isinstance(self.body, Mapping):
            return msgspec.json.encode(self.body)
        return msgspec.json.encode([operation.to_wire() for operation in self.body])

    @property
    def content_type(self) -> str:
        """The media type that tells the API server which kind of patch the body is."""
        kind = "merge-patch" if isinstance(self.body, Mapping) else "json-patch"
        return f"application/{kind}+json"


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object. Answers it as stored; AlreadyExistsError if the name is taken."""

    object: KubernetesObject

    @property
    def reference(self) -> Reference:
        """The object to make."""
        return self.object.reference


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete one object, only if it still has this uid (else ConflictError).

    So with ``resource_version``, where there is one: then only if nothing of it has changed.
    ``grace_seconds`` None leaves the pod its own grace period.
    """

    kind: type[KubernetesObject]
    name: str
    namespace: str = ""
    uid: str = ""
    grace_seconds: int | None = None
    resource_version: str = ""

    @property
    def reference(self) -> Reference:
        """The object to delete."""
        return Reference(
            kind=self.kind.resource.kind, namespace=self.namespace, name=self.name, uid=self.uid
        )


@dataclass(frozen=True, slots=True)
class Evict:
    """Evict one pod through the Eviction API, only if it still has this uid.

    Answers None. A budget's refusal is DisruptionRefusedError, two budgets on one pod
    MultipleBudgetsError, another uid ConflictError.
    """

    name: str
    namespace: str
    uid: str

    @property
    def reference(self) -> Reference:
        """The pod to evict."""
        return Reference(kind="Pod", namespace=self.namespace, name=self.name, uid=self.uid)


def patch_as_read(item: KubernetesObject, *operations: Operation) -> Patch:
    """Change an object, if nothing about it has changed since it was read."""
    body = (*as_read(item), *operations)
    return Patch(kind=type(item), name=item.name, body=body, namespace=item.namespace)


type Read = Get[Any] | List[Any]
type Write = Patch | Create | Delete | Evict
type Request = Read | Write


@dataclass(frozen=True, slots=True)
class Change[T: KubernetesObject]:
    """What a watch saw. ``deleted`` means: left the selection, perhaps not gone at all.

    The object of a deletion is its last state in the selection with the resource version
    of the change.
    """

    selection: Selection[T]
    object: T
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Relisted[T: KubernetesObject]:
    """A watch began, or began again: these and no others are in the selection."""

    selection: Selection[T]
    listing: Listing[T] = field(default=Listing((), "0"))
