"""Shared objects as Linux's loader sees them: for which machine, and what they need of it."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

MAGIC: Final = b"\x7fELF\x02\x01"
"""Of 64 bits, with the lowest byte first, as all of Lambda's machines are."""
MACHINES: Final = {62: "x86_64", 183: "aarch64"}
DYNAMIC: Final = 6
"""The type of the section that lists the libraries."""
VERSIONS_NEEDED: Final = 0x6FFFFFFE
NEEDED: Final = 1
"""The tag of a library's name in it."""


class Section(NamedTuple):
    """An entry of the section header table, in its order there."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True, slots=True)
class SharedObject:
    """``libraries`` are the names of those that it loads, ``versions`` those of their symbols."""

    machine: str
    libraries: frozenset[str]
    versions: frozenset[str]


def read(path: Path) -> SharedObject:
    """Read a shared object.

    https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html and
    https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/symversion.html
    """
    content = path.read_bytes()
    assert content.startswith(MAGIC), path
    (machine,) = struct.unpack_from("<H", content, 18)
    (start,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    sections = [
        Section(*struct.unpack_from("<IIQQQQIIQQ", content, start + i * size)) for i in range(count)
    ]
    libraries, versions = set(), set()
    for section in sections:
        names = sections[section.link].offset
        if section.type == DYNAMIC:
            libraries |= {_text(content, names + at) for at in _libraries(content, section)}
        if section.type == VERSIONS_NEEDED:
            versions |= {_text(content, names + at) for at in _versions(content, section)}
    return SharedObject(MACHINES[machine], frozenset(libraries), frozenset(versions))


def _libraries(content: bytes, section: Section) -> Iterator[int]:
    """Where the names of the libraries are, from the beginning of the section's strings."""
    for at in range(section.offset, section.offset + section.size, section.entry_size):
        tag, value = struct.unpack_from("<QQ", content, at)
        if tag == NEEDED:
            yield value


def _versions(content: bytes, section: Section) -> Iterator[int]:
    """Where the names of the versions are: a list of libraries, each with a list of its own."""
    library = section.offset
    for _ in range(section.info):
        _, count, _, first, following = struct.unpack_from("<HHIII", content, library)
        version = library + first
        for _ in range(count):
            _, _, _, name, further = struct.unpack_from("<IHHII", content, version)
            yield name
            version += further
        library += following


def _text(content: bytes, at: int) -> str:
    return content[at : content.index(b"\0", at)].decode()
