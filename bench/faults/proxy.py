"""Stands between Evenkeel and a server, and lets go wrong what it was told to.

    python -m bench.faults.proxy https://127.0.0.1:6443 --ca F --cert F --key F --share 0.2

Takes plain HTTP on a free port of 127.0.0.1 and prints that port. The process that started it
writes to its standard input: ``down`` closes the port, so that connections are refused, and breaks
all that are open; ``up`` opens the same port again; each is answered by the same word. At the end
of the input it prints what it did as JSON (how often, by verdict) and ends.
"""

import argparse
import asyncio
import contextlib
import json
import socket
import ssl
import struct
import sys
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.faults.http import Head, pass_body, read_head
from bench.faults.policy import Policy, Verdict, refusal

HOST: Final = "127.0.0.1"
LONGEST: Final = 2**20
"""Bytes of a line or a message's head."""

BROKEN: Final = (IncompleteReadError, OSError)


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server behind the proxy."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None

    async def connect(self) -> tuple[StreamReader, StreamWriter]:
        """A connection of its own. Raises OSError."""
        return await asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=LONGEST)


@dataclass(slots=True)
class Proxy:
    """A proxy on one port; every connection has one of its own to the server behind it."""

    upstream: Upstream
    policy: Policy
    port: int = 0
    _server: asyncio.Server | None = None
    _open: dict[asyncio.Task[None], StreamWriter] = field(default_factory=dict)

    async def up(self) -> None:
        """Open the port: any free one the first time, the same ever after."""
        server = await asyncio.start_server(self._serve, HOST, self.port, limit=LONGEST)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    async def down(self) -> None:
        """Close the port, and break every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task, writer in list(self._open.items()):
            _reset(writer)
            task.cancel()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        behind: StreamWriter | None = None
        try:
            answers, behind = await self.upstream.connect()
            while await self._exchange(reader, writer, answers, behind):
                pass
        except BROKEN:
            _reset(writer)
        finally:
            del self._open[task]
            for each in (writer, behind):
                if each is not None:
                    each.close()

    async def _exchange(
        self,
        reader: StreamReader,
        writer: StreamWriter,
        answers: StreamReader,
        behind: StreamWriter,
    ) -> bool:
        """One request and its answer; whether another may follow on this connection."""
        head = await read_head(reader)
        body = await reader.readexactly(head.length)
        verdict = self.policy.decide(head.method, head.headers.get("x-amz-target", ""))
        answer = refusal(verdict)
        if answer is not None:
            writer.write(answer)
            await writer.drain()
            return not head.ends_with_connection
        if verdict is Verdict.RESET_BEFORE:
            raise ConnectionResetError
        if verdict is Verdict.TWICE:
            await self._repeat(head, body)
        behind.write(head.raw + body)
        await behind.drain()
        answered = await read_head(answers)
        if verdict is Verdict.RESET_AFTER:
            raise ConnectionResetError
        writer.write(answered.raw)
        await pass_body(answered, answers, writer)
        await writer.drain()
        return not (head.ends_with_connection or answered.ends_with_connection)

    async def _repeat(self, head: Head, body: bytes) -> None:
        """Carry a request out whose answer is not passed on."""
        answers, behind = await self.upstream.connect()
        behind.write(head.raw + body)
        await behind.drain()
        await read_head(answers)
        behind.close()


def _reset(writer: StreamWriter) -> None:
    """Break a connection as a peer does that died: with a reset."""
    connection = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def upstream_of(url: str, files: Sequence[Path | None]) -> Upstream:
    """The server of a URL. ``files``: its CA's certificate, and the client's with its key."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    tls = None
    if parts.scheme == "https":
        authority, certificate, key = files
        tls = ssl.create_default_context(cafile=authority)
        if certificate is not None:
            tls.load_cert_chain(certificate, key)
    return Upstream(parts.hostname, parts.port, tls)


async def obey(proxy: Proxy) -> None:
    """Do as standard input says, to its end."""
    loop = asyncio.get_running_loop()
    await proxy.up()
    print(proxy.port, flush=True)
    while word := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
        await (proxy.down() if word == "down" else proxy.up())
        print(word, flush=True)
    await proxy.down()
    print(json.dumps(proxy.policy.counts), flush=True)


def main(arguments: Sequence[str]) -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(prog="bench.faults.proxy")
    parser.add_argument("upstream")
    for name in ("--ca", "--cert", "--key"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--share", type=float, default=0.0)
    parser.add_argument("--twice", default="")
    options = parser.parse_args(arguments)
    upstream = upstream_of(options.upstream, (options.ca, options.cert, options.key))
    asyncio.run(obey(Proxy(upstream, Policy(share=options.share, twice=options.twice))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
