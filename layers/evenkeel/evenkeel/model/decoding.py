"""JSON from outside as values. Whatever the bytes are, nothing but UnreadableError is raised."""

import re
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from threading import Lock
from typing import Any, Final, cast

import msgspec

from evenkeel.errors import UnreadableError

DEEPEST: Final = 64
"""Levels of a document that are decoded. The deepest field that Evenkeel reads is on level 16."""

type Document = bytes | bytearray | str | msgspec.Raw

_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"?'
_FLAT: Final = rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+"
_BRACKET: Final = re.compile(
    rb'(?:[^"{}\[\]]++|'
    + _STRING
    + (rb"|\{" + _FLAT + rb"\}|\[" + _FLAT + rb"\])*+")
    + rb"(?:(?P<opens>[{\[])|(?P<closes>[}\]])|\Z)",
    re.DOTALL,
)
"""Everything up to a bracket that holds, or ends what holds, another one, or up to the end.

It matches wherever it is tried, also in what is no JSON, so a document is scanned once or twice: a
string that does not end goes to the end of the document.
"""


_BUILDING: Final = Lock()
"""Held while msgspec finds out what is in a type.

It keeps that in each Struct's class, where other threads see it before it is whole: two that build
decoders of types with one Struct in common end the process with SIGSEGV.
"""


@cache
def _decode(shape: Any) -> Callable[[Document], Any]:
    with _BUILDING:
        return msgspec.json.Decoder(shape).decode  # noqa: TID251 - here


def decoded[T](shape: type[T], data: Document) -> T:
    """What a document says. Raises UnreadableError if it is not of this shape.

    Whoever writes an object decides how deep its managedFields are nested: the API server takes
    10,000 levels, and msgspec, which also recurses into what it skips, fewer. So a document that
    is too deep is decoded without what lies deeper than DEEPEST.
    """
    decode: Callable[[Document], T] = _decode(cast("Hashable", shape))
    try:
        try:
            return decode(data)
        except RecursionError:
            whole = data.encode() if isinstance(data, str) else bytes(data)
            return decode(b"".join(_shallow(whole)))
    except (ValueError, RecursionError) as error:
        # msgspec's errors are ValueErrors, and so is what a string that is no UTF-8 raises.
        raise UnreadableError(str(error)) from error


def converted[T](value: object, shape: type[T]) -> T:
    """A decoded value in a shape. Raises UnreadableError if it is not of that."""
    _decode(cast("Hashable", shape))
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise UnreadableError(str(error)) from error


def _shallow(document: bytes) -> Iterator[bytes]:
    """The parts of a document; each value that lies deeper than DEEPEST is null."""
    depth = copied = 0
    for found in _BRACKET.finditer(document):
        match found.lastgroup:
            case "closes":
                if depth == DEEPEST + 1:
                    copied = found.end()
                depth -= 1
            case "opens":
                if depth == DEEPEST:
                    yield document[copied : found.start("opens")] + b"null"
                    copied = len(document)
                depth += 1
    yield document[copied:]
