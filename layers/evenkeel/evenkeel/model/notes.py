"""Notes: annotations that hold JSON, which anybody who may annotate can have written.

Each kind is a struct that names its annotation, and is read and written in one way, here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Final, Protocol, Self

import msgspec

from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import decoded
from evenkeel.model.times import is_sound

VERSION: Final = 1
"""Version of the JSON that Evenkeel keeps on objects."""


def read_note[T](text: str | None, kind: type[T]) -> T | None:
    """What a note says; None without one, and for what is none of this kind."""
    if text is None:
        return None
    try:
        return decoded(kind, text)
    except UnreadableError:
        return None


class _Metadata(Protocol):
    @property
    def annotations(self) -> Mapping[str, str] | None: ...


class Annotated(Protocol):
    """An object that may have annotations."""

    @property
    def metadata(self) -> _Metadata:
        """Where they are."""
        ...


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What Evenkeel notes on an object, in the annotation ``key``."""

    key: ClassVar[str]

    @property
    def makes_sense(self) -> bool:
        """Whether Evenkeel can have written it: anybody who may annotate the object may have.

        Its times are in range.
        """
        values = (getattr(self, field) for field in self.__struct_fields__)
        return all(is_sound(each) for each in values if isinstance(each, datetime))

    def encode(self) -> str:
        """The annotation's value."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """What an annotation's value says; None if nothing that makes sense."""
        note = read_note(text, cls)
        return note if note is not None and note.makes_sense else None

    @classmethod
    def of(cls, item: Annotated) -> Self | None:
        """What is noted on an object; None if nothing that makes sense."""
        return cls.read((item.metadata.annotations or {}).get(cls.key))
