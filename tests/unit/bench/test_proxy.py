"""The proxy that lets requests go wrong, before a small server."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from bench.faults.http import parse, read_head
from bench.faults.policy import Policy
from bench.faults.proxy import HOST, Proxy, Upstream

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
ENDLESS = b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nhello"
GET = b"GET /pods HTTP/1.1\r\nHost: x\r\n\r\n"
PATCH = b"PATCH /pods/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
SEND = b"POST / HTTP/1.1\r\nX-Amz-Target: AmazonSQS.SendMessage\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """Answers everything the same, and keeps what it was asked."""

    def __init__(self, answer: bytes) -> None:
        self.asked: list[bytes] = []
        self._answer = answer

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            while True:
                head = await read_head(reader)
                self.asked.append(head.raw + await reader.readexactly(head.length))
                writer.write(self._answer)
                if b"close" in self._answer:
                    break
        except (asyncio.IncompleteReadError, OSError):
            pass
        writer.close()


@asynccontextmanager
async def between(policy: Policy, answer: bytes) -> AsyncIterator[tuple[Proxy, Server]]:
    server = Server(answer)
    listening = await asyncio.start_server(server.serve, HOST, 0)
    proxy = Proxy(Upstream(HOST, listening.sockets[0].getsockname()[1]), policy)
    await proxy.up()
    try:
        yield proxy, server
    finally:
        await proxy.down()
        listening.close()


async def ask(proxy: Proxy, *requests: bytes) -> bytes:
    """Send these on one connection, and read to its end."""
    reader, writer = await asyncio.open_connection(HOST, proxy.port)
    try:
        for request in requests:
            writer.write(request)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()


def run(policy: Policy, answer: bytes, test: Callable[[Proxy, Server], Awaitable[None]]) -> None:
    async def enclosed() -> None:
        async with asyncio.timeout(10), between(policy, answer) as (proxy, server):
            await test(proxy, server)

    asyncio.run(enclosed())


@pytest.mark.parametrize("answer", [CHUNKED, COUNTED])
def test_requests_on_one_connection_pass_with_their_bodies(answer: bytes) -> None:
    async def test(proxy: Proxy, server: Server) -> None:
        # The end of the input after an answer breaks the connection: read no further than it.
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        for request in (GET, PATCH):
            writer.write(request)
            assert await reader.readexactly(len(answer)) == answer
        assert server.asked == [GET, PATCH]
        writer.close()

    run(Policy(), answer, test)


def test_an_answer_that_ends_with_its_connection_passes() -> None:
    async def test(proxy: Proxy, server: Server) -> None:
        assert await ask(proxy, GET) == ENDLESS
        assert server.asked == [GET]

    run(Policy(), ENDLESS, test)


def test_a_refusal_never_reaches_the_server_and_a_reset_may_have() -> None:
    policy = Policy(share=1.0)

    async def test(proxy: Proxy, server: Server) -> None:
        reached, refused = 0, 0
        for _ in range(60):
            before = len(server.asked)
            reader, writer = await asyncio.open_connection(HOST, proxy.port)
            writer.write(PATCH)
            try:
                head = await read_head(reader)
            except (asyncio.IncompleteReadError, ConnectionResetError):
                reached += len(server.asked) - before
            else:
                refused += 1
                assert head.first.split()[1] in ("409", "429", "500", "503")
                assert len(server.asked) == before
            writer.close()
        assert reached > 0
        assert refused + sum(count for v, count in policy.counts.items() if "reset" in v) == 60

    run(policy, COUNTED, test)


def test_a_message_is_sent_twice_and_answered_once() -> None:
    async def test(proxy: Proxy, server: Server) -> None:
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        writer.write(SEND)
        assert await reader.readexactly(len(COUNTED)) == COUNTED
        assert server.asked == [SEND, SEND]
        writer.close()

    run(Policy(twice=".SendMessage"), COUNTED, test)


def test_while_it_is_down_connections_break_and_are_refused() -> None:
    async def test(proxy: Proxy, server: Server) -> None:
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        writer.write(GET)
        await reader.readexactly(len(COUNTED))
        await proxy.down()
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(HOST, proxy.port)
        await proxy.up()
        assert await _answered(proxy) == COUNTED
        assert len(server.asked) == 2
        writer.close()

    run(Policy(), COUNTED, test)


async def _answered(proxy: Proxy) -> bytes:
    reader, writer = await asyncio.open_connection(HOST, proxy.port)
    writer.write(GET)
    answer = await reader.readexactly(len(COUNTED))
    writer.close()
    return answer


def test_a_head_is_read_whatever_the_case_of_its_names() -> None:
    head = parse(b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 12\r\nConnection: Close\r\n\r\n")
    assert (head.length, head.is_chunked, head.ends_with_connection) == (12, False, True)
    assert parse(CHUNKED[:49]).first == "HTTP/1.1 200 OK"
