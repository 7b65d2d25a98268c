"""So much of HTTP/1.1 as a proxy has to understand to know where a message ends."""

from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass
from typing import Final

PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Head:
    """A message's first line and headers; ``raw`` as they came, header names in lower case."""

    raw: bytes
    first: str
    headers: dict[str, str]

    @property
    def method(self) -> str:
        """The method, if it is a request."""
        return self.first.partition(" ")[0]

    @property
    def length(self) -> int:
        """How long the body is, if its head says so."""
        return int(self.headers.get("content-length", "0"))

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks, each with its length."""
        return self.headers.get("transfer-encoding", "").lower() == "chunked"

    @property
    def ends_with_connection(self) -> bool:
        """Whether nothing follows on this connection."""
        return self.headers.get("connection", "").lower() == "close"


def parse(raw: bytes) -> Head:
    """The head of a message, up to and with its empty line."""
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Head(raw, first, {name.strip().lower(): value.strip() for name, _, value in pairs})


async def read_head(reader: StreamReader) -> Head:
    """The next message's head. Raises IncompleteReadError where there is none any more."""
    return parse(await reader.readuntil(b"\r\n\r\n"))


async def pass_body(head: Head, reader: StreamReader, writer: StreamWriter) -> None:
    """Pass an answer's body on as it comes in. Raises IncompleteReadError if it breaks off."""
    if head.ends_with_connection and not head.is_chunked and "content-length" not in head.headers:
        while piece := await reader.read(PIECE):
            writer.write(piece)
        return
    if not head.is_chunked:
        await _pass(head.length, reader, writer)
        return
    while True:
        line = await reader.readuntil(b"\r\n")
        writer.write(line)
        size = int(line.partition(b";")[0], 16)
        await _pass(size + 2, reader, writer)
        if size == 0:
            return


async def _pass(length: int, reader: StreamReader, writer: StreamWriter) -> None:
    while length:
        piece = await reader.readexactly(min(length, PIECE))
        writer.write(piece)
        await writer.drain()
        length -= len(piece)
