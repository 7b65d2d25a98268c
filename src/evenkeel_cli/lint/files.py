"""Which files a person means, as with ``kubectl apply -f``, and what is in them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evenkeel_cli.errors import UnmetError

STANDARD_INPUT: Final = "-"

SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})
"""Of a folder's files kubectl reads these."""


def named(name: str, *, recursive: bool) -> Sequence[str]:
    """The files of this name: one, or of a folder its manifests.

    ``recursive``: those of the folders in it, too. Raises UnmetError.
    """
    folder = Path(name)
    if name == STANDARD_INPUT or not folder.is_dir():
        return [name]
    inside = folder.rglob("*") if recursive else folder.iterdir()
    return sorted(str(each) for each in inside if each.suffix in SUFFIXES and each.is_file())


def read(name: str) -> bytes:
    """What is in a file. Raises UnmetError."""
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UnmetError(f"{name}: cannot be read ({error.strerror})") from None
