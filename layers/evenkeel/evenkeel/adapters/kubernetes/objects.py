"""The API server's bytes as objects: one that cannot be read is left out, and no other with it.

Decoding is partial: msgspec skips what the model does not name, so that a page of pods costs a
fiftieth of what full models of the API cost. What a stranger or a kubelet can write into an object
decides what becomes of that object alone:

| in the answer | what comes of it |
|---|---|
| nesting deeper than is decoded, as in managedFields | the rest of the object is read |
| a time that is none to Python, a null where a value belongs | the field counts as not set |
| many or long annotations | those that Evenkeel never reads are forgotten at once |
| more than LARGEST bytes that Evenkeel does read; a field of another type | it is left out |

What becomes of many such objects of one namespace says ``room``.
"""

from datetime import datetime
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from evenkeel.errors import UnavailableError, UnreadableError, UnreadableObjectError
from evenkeel.model import names
from evenkeel.model.decoding import converted, decoded
from evenkeel.model.meta import OTHER_ANNOTATIONS, KubernetesObject, Metadata

type Bytes = bytes | bytearray | msgspec.Raw

LARGEST: Final = 65_536
"""Bytes of an object, as far as Evenkeel reads it. A pod with ten containers has some 3,000."""

FEW_ANNOTATIONS: Final = 4_096
"""Characters of annotations that are kept whatever they are."""

LONGEST_ANNOTATION: Final = 16_384
"""Characters of an annotation that Evenkeel reads, where there are more than a few."""


class ListMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """ListMeta, as far as paging needs it."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(msgspec.Struct, frozen=True):
    """One page of a list, whose objects are still bytes. Go writes an empty slice as null."""

    metadata: ListMetadata
    items: tuple[msgspec.Raw, ...] | None = ()


class WatchEvent(msgspec.Struct, frozen=True):
    """One line of a watch; what the object is depends on the type."""

    type: str
    object: msgspec.Raw


class Identity(msgspec.Struct, frozen=True, rename="camel"):
    """ObjectMeta, as far as it tells which object this is."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Versioned(msgspec.Struct, frozen=True):
    """A bookmark, of which nothing but the resource version matters."""

    metadata: ListMetadata


class _Identified(msgspec.Struct, frozen=True):
    """An object of which nothing but that matters."""

    metadata: Identity


def read_object[T: KubernetesObject](kind: type[T], data: Bytes, what: str) -> T:
    """An object, as far as it can be read. ``what`` names the request in errors.

    Raises UnreadableObjectError for an object that cannot be read, UnavailableError for what is no
    object of the API.
    """
    try:
        found = decoded(kind, data)
    except UnreadableError:
        plain = expected(object, data, what)
        try:
            found = converted(_mended(plain, _type_of(kind)), kind)
        except UnreadableError as error:
            raise _unreadable(identity(data, what), what, error) from error
    _forget(found.metadata)
    if len(memoryview(data)) > LARGEST and (size := len(msgspec.json.encode(found))) > LARGEST:
        why = f"{size} bytes of it would be read, and {LARGEST} are at most"
        raise _unreadable(found.metadata, what, why)
    return found


def read_version(data: msgspec.Raw, what: str) -> str:
    """The resource version in a bookmark. Raises UnavailableError if it is none."""
    return expected(_Versioned, data, what).metadata.resource_version


def read_metadata[T: KubernetesObject](kind: type[T], data: msgspec.Raw, what: str) -> T:
    """Which object this is; all else of it as if it were not set. Raises UnavailableError."""
    return converted({"metadata": msgspec.to_builtins(identity(data, what))}, kind)


def identity(data: Bytes, what: str) -> Identity:
    """Which object this is. Raises UnavailableError if it is none."""
    return expected(_Identified, data, what).metadata


def expected[T](shape: type[T], data: Bytes, what: str) -> T:
    """What an answer says. Raises UnavailableError if it is not what the API promises."""
    try:
        return decoded(shape, data)
    except UnreadableError as error:
        raise UnavailableError(f"{what}: not the answer of a Kubernetes API: {error}") from error


def _forget(metadata: Metadata) -> None:
    """Forget the annotations of an object that are never read, where there are more than a few."""
    annotations = metadata.annotations
    if annotations and sum(map(len, annotations.values())) > FEW_ANNOTATIONS:
        kept = {
            key: value
            for key, value in annotations.items()
            if key in names.KNOWN and len(value) <= LONGEST_ANNOTATION
        }
        if len(kept) < len(annotations):
            kept[OTHER_ANNOTATIONS] = ""
            msgspec.structs.force_setattr(metadata, "annotations", kept)


def _unreadable(which: Identity | Metadata, what: str, why: object) -> UnreadableObjectError:
    named = "/".join(filter(None, (which.namespace, which.name)))
    return UnreadableObjectError(f"{what}: {named} cannot be read: {why}")


@cache
def _type_of(kind: type[KubernetesObject]) -> inspect.Type:
    return inspect.type_info(kind)


def _mended(value: Any, shape: inspect.Type) -> Any:
    """A decoded value without nulls in its structs, and with null for times that are none."""
    match shape:
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            shapes = {field.encode_name: field.type for field in fields}
            mended = ((k, _mended(v, shapes[k])) for k, v in value.items() if k in shapes)
            return {key: each for key, each in mended if each is not None}
        case inspect.VarTupleType(item_type=each) if isinstance(value, list):
            return [_mended(item, each) for item in value]
        case inspect.UnionType(types=shapes):
            for one in shapes:
                value = _mended(value, one)
            return value
        case inspect.DateTimeType() if isinstance(value, str):
            return value if _is_time(value) else None
    return value


def _is_time(text: str) -> bool:
    try:
        msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        return False
    return True
