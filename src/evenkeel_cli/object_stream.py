"""The objects of a list as ``kubectl get -o json`` prints it, one at a time.

A list of 150,000 pods is about 1 GB of text: it is read piece by piece, and of each object only
what its reader keeps stays in memory.
"""

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

PIECE: Final = 4 << 20
"""Bytes that are read at a time."""

LARGEST: Final = 64 << 20
"""Characters. etcd takes objects of 1.5 MB; what goes on for longer is no object of a cluster."""

BLANK: Final = " \t\r\n"

_DECODER: Final = json.JSONDecoder()


class NoListError(Exception):
    """It is JSON, and no list of objects; the message says what it is."""


class NoJsonError(Exception):
    """It is no JSON; the message says where."""


def objects(stream: BinaryIO) -> Iterator[Any]:
    """The items of a list, or of several that follow each other. An item may be any value.

    Raises NoListError and NoJsonError, also after items were given: a list says what it is at its
    end.
    """
    text = _Text(stream)
    cut = dict[str, bool]()
    yield from _items(text, cut)
    while text.next():
        yield from _items(text, cut)
    if any(cut.values()):
        raise NoListError("it is a part of one: `metadata.continue` says that more follows")


def _items(text: "_Text", cut: dict[str, bool]) -> Iterator[Any]:
    """The items of a list; of each kind of list is noted whether the last one is a part."""
    if text.next() != "{":
        text.value()
        raise NoListError("it is not an object with `items`")
    kind, has_items, metadata = None, False, None
    for key in text.fields():
        if key == "items":
            has_items = True
            yield from text.elements()
        elif key == "kind":
            kind = text.value()
        elif key == "metadata":
            metadata = text.value()
        else:
            text.value()
    if not isinstance(kind, str) or not has_items:
        missing = "items" if isinstance(kind, str) else "kind"
        raise NoListError(f"it has no field `{missing}`")
    if not kind.endswith("List"):
        raise NoListError(f"it is a {kind}, not a List")
    cut[kind] = isinstance(metadata, dict) and bool(metadata.get("continue"))


class _Text:
    """The text of a stream from the place up to which it was read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._before = 0
        self._is_whole = False

    def next(self) -> str:
        """The next character that is no blank, which is not passed; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._read():
                return ""

    def value(self) -> Any:
        """The next value. Raises NoJsonError."""
        self.next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                within = error.pos - self._at
                if len(self._text) - self._at > LARGEST or not self._read():
                    self._at += within
                    raise self.error(error.msg) from None
            except (ValueError, RecursionError):
                raise self.error("a number is too long, or a value too deep") from None
            else:
                if end < len(self._text) or not self._read():  # a number may go on
                    self._at = end
                    return value

    def fields(self) -> Iterator[str]:
        """The keys of the next object; the caller takes the value after each."""
        self._pass("{")
        if self.next() == "}":
            self._at += 1
            return
        while True:
            if self.next() != '"':
                raise self.error("expected a name in quotes")
            key = self.value()
            self._pass(":")
            yield key
            if not self._goes_on("}"):
                return

    def elements(self) -> Iterator[Any]:
        """The elements of the next array."""
        if self.next() != "[":
            raise NoListError("its `items` are no array")
        self._at += 1
        if self.next() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if not self._goes_on("]"):
                return

    def error(self, problem: str) -> NoJsonError:
        """What is wrong at this place."""
        return NoJsonError(f"{problem}, at character {self._before + self._at + 1}")

    def _goes_on(self, end: str) -> bool:
        """Pass what stands after an element; whether another follows."""
        found = self.next()
        if found not in (",", end):
            raise self.error(f"expected `,` or `{end}`")
        self._at += 1
        return found == ","

    def _pass(self, character: str) -> None:
        if self.next() != character:
            raise self.error(f"expected `{character}`")
        self._at += 1

    def _read(self) -> bool:
        """Forget what was passed, and read on; whether there was more."""
        if self._is_whole:
            return False
        piece = self._stream.read(PIECE)
        self._is_whole = not piece
        try:
            text = self._decoder.decode(piece, final=self._is_whole)
        except UnicodeDecodeError as error:
            raise self.error(f"it is no text in UTF-8 ({error.reason})") from None
        self._before += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return not self._is_whole
