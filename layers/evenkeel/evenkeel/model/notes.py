"""Notes: annotations that hold JSON, which anybody who may annotate can have written."""

from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import decoded


def read_note[T](text: str | None, kind: type[T]) -> T | None:
    """What a note says; None without one, and for what is none of this kind."""
    if text is None:
        return None
    try:
        return decoded(kind, text)
    except UnreadableError:
        return None
