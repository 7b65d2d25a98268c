"""Files in a zip that is the same whenever it is made, and a digest that no zip changes."""

import io
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can name."""
READABLE: Final = 0o100644 << 16
"""A file that Lambda's user can read, where a zip keeps Unix's modes."""
SHOWN: Final = 16
"""Hexadecimal digits of a digest: 64 bits tell apart what one account keeps."""


def files_in(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of these files, by path. Times and modes are always the same."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.external_attr = READABLE
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return out.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    """The files of a zip. Raises BadZipFile where it is none."""
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        return {each: found.read(each) for each in found.namelist() if not each.endswith("/")}


def digest(files: Mapping[str, bytes]) -> str:
    """A digest over paths and contents: what one deflate writes another one may not."""
    total = sha256()
    for path, content in sorted(files.items()):
        for part in (path.encode(), content):
            total.update(len(part).to_bytes(8))
            total.update(part)
    return total.hexdigest()[:SHOWN]
