"""Attacks by who reaches the ports of ``evenkeel serve`` and has no token, and other crowds.

A request has a minute here. So where one is answered, no client's time was simply over.
"""

import contextlib
import resource
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.handlers.requests import LARGEST
from evenkeel_runtime import metrics_port
from evenkeel_runtime.metrics import PrometheusRecorder
from evenkeel_runtime.serve import connection, slots
from evenkeel_runtime.serve.connection import Connection
from evenkeel_runtime.serve.server import WAITING
from evenkeel_runtime.serve.slots import MOST, OF_ONE_ADDRESS
from tests.kit.served import PATH, Served
from tests.kit.silence import silent

CLIENT_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""How a TLS handshake begins: its first message has 508 bytes more."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(connection, "REQUEST", 60.0)
    made = Served(tmp_path)
    yield made
    assert made.server.end()
    made.thread.join(5)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four threads, two of them for any one address."""
    monkeypatch.setattr(slots, "MOST", 4)
    monkeypatch.setattr(slots, "OF_ONE_ADDRESS", 2)
    monkeypatch.setattr(slots, "SHORT", 0.1)


def test_another_address_is_answered_before_any_silent_client_is_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "SHORT", 60.0)
    with silent(served.address, MOST + 20) as clients:
        assert served.ask() == (200, "answered")
        assert served.ask("GET", "/healthz", None) == (200, "ok\n")
        assert not any(_is_closed(each) for each in clients)


@pytest.mark.parametrize("said", [b"", CLIENT_HELLO], ids=["nothing", "half a handshake"])
def test_an_address_is_answered_though_others_hold_all_threads(served: Served, said: bytes) -> None:
    addresses = MOST // OF_ONE_ADDRESS
    with silent(served.address, MOST, addresses=addresses, said=said):
        assert served.ask() == (200, "answered")


@pytest.mark.parametrize("is_known", [True, False])
def test_an_api_server_is_answered_beside_thousands_of_silent_addresses(
    served: Served, *, is_known: bool
) -> None:
    """How long its connection waits, ``tests/unit/runtime/serve/test_slots.py`` holds."""
    if is_known:
        assert served.ask() == (200, "answered")
    with silent(served.address, 2_000, addresses=2_000):
        assert served.ask() == (200, "answered")


@pytest.mark.usefixtures("few")
def test_a_client_that_shakes_hands_and_stays_silent_gives_way_to_one_that_asks(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "OF_ONE_ADDRESS", 1)
    with (
        socket.create_connection(served.address, timeout=10) as plain,
        served.client.wrap_socket(plain, server_hostname="127.0.0.1") as silent_one,
    ):
        assert served.ask() == (200, "answered")
        assert silent_one.recv(1) == b""


@pytest.mark.usefixtures("few")
def test_connections_that_have_shown_the_token_go_on_being_answered(served: Served) -> None:
    kept = served.connect(source="127.0.1.1")
    kept.request("POST", PATH, "{}")
    assert kept.getresponse().read() == b"answered"
    with silent(served.address, 20) as clients:
        assert clients[0].recv(1) == b"", "the crowd gives way to itself"
        kept.request("POST", PATH, "{}")
        assert kept.getresponse().read() == b"answered"
        assert len({note[0] for note in served.noted(1)}) == 1
    kept.close()


def test_probe_after_probe_keeps_no_thread(served: Served) -> None:
    """Who never stops sending is never silent."""
    answers = served.raw(b"GET /healthz HTTP/1.1\r\n\r\n" * 10)
    assert answers.count(b"HTTP/1.1 200 OK") == 1


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * 17_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"x" * 17_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: 1\r\n" * 2_800 + b"\r\n",
    ],
    ids=["its line", "one header", "many headers"],
)
def test_no_head_is_parsed_that_is_too_long(served: Served, head: bytes) -> None:
    assert served.raw(head).startswith(b"HTTP/1.1 431 ")


def test_a_head_of_a_usual_length_is_answered(served: Served) -> None:
    headers = b"".join(b"A-%02d: %s\r\n" % (number, b"x" * 190) for number in range(80))
    body = b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    answer = served.raw(f"POST {PATH} HTTP/1.1\r\n".encode() + headers + body)
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 2\r\nContent-Length: 40\r\n",
        b"Content-Length: 2, 40\r\n",
        b"Content-Length: 0x2\r\n",
        b"Content-Length: 1_0\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: -2\r\n",
        b"Content-Length: \xb2\r\n",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\n",
    ],
)
def test_no_second_request_hides_in_the_body_of_one(served: Served, headers: bytes) -> None:
    """Who shares a connection with others, as behind a proxy, could ask in their name."""
    hidden = f"{{}}POST {PATH} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    answer = served.raw(f"POST {PATH} HTTP/1.1\r\n".encode() + headers + b"\r\n" + hidden)
    assert answer.startswith(b"HTTP/1.1 411 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert served.events == []


@pytest.mark.parametrize(
    "request_line",
    [
        "PUT {} HTTP/1.1",
        "{} / HTTP/1.1",
        "GET {} HTTP/9.9",
        "GET {} HTTP/1.1 more",
        "GET /other?path={} HTTP/1.1",
        "GET https://127.0.0.1{} HTTP/1.1",
    ],
)
def test_no_answer_and_no_line_of_the_log_has_the_token(served: Served, request_line: str) -> None:
    """Whoever reads logs could then ask; somebody who has it may ask for something wrong."""
    told = served.raw(f"{request_line.format(PATH)}\r\nReferer: {PATH}\r\n\r\n".encode())
    token = PATH.removeprefix("/v1/")
    assert int(told.split()[1]) >= 400
    assert token.encode() not in told
    assert token not in repr(served.noted(1))


def test_no_body_is_read_without_the_token(served: Served) -> None:
    made = served.connect()
    made.putrequest("POST", "/v1/other")
    made.putheader("Content-Length", "3000000")
    made.endheaders()
    assert made.getresponse().status == 401
    made.close()


def test_reviews_of_3_mb_take_a_bounded_room_and_small_ones_are_answered_beside_them(
    served: Served,
) -> None:
    """Who may make pods may have the API server send as many as he likes."""
    served.wait.clear()
    answers: list[tuple[int, str]] = []

    def ask(body: str) -> None:
        answers.append(served.ask(body=body))

    first = threading.Thread(target=ask, args=("x" * LARGEST,))
    first.start()
    assert served.has_begun.wait(20)
    for _ in range(20):
        assert _status_of(served, LARGEST) == 503
    small = [threading.Thread(target=ask, args=("x" * 20_000,)) for _ in range(20)]
    for each in small:
        each.start()
    while len(served.events) < 21:
        assert any(each.is_alive() for each in small)
    served.wait.set()
    for each in (first, *small):
        each.join(20)
    assert answers == [(200, "answered")] * 21
    assert served.ask(body="x" * LARGEST) == (200, "answered")


def test_a_crowd_at_either_port_holds_no_probe_up(served: Served) -> None:
    port = metrics_port.serve(PrometheusRecorder("prod").registry, "127.0.0.1", 0, lambda: True)
    address = ("127.0.0.1", port)
    with (
        silent(served.address, 2 * MOST, addresses=16),
        silent(address, 2 * metrics_port.MOST, addresses=16),
        socket.create_connection(address, timeout=20) as probe,
    ):
        probe.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert probe.recv(100).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.usefixtures("few")
def test_the_address_of_the_silent_is_answered_too(served: Served) -> None:
    with silent(served.address, 20):
        assert served.ask(source="127.0.1.1") == (200, "answered")


@pytest.mark.usefixtures("few")
def test_many_at_once_from_one_address_are_all_answered(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an API server asks; a connection that is refused lets its eviction pass."""
    monkeypatch.setattr(slots, "SHORT", 60.0)
    answers: list[tuple[int, str]] = []
    threads = [threading.Thread(target=lambda: answers.append(served.ask())) for _ in range(40)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert answers == [(200, "answered")] * 40


@pytest.mark.usefixtures("few")
def test_no_client_gives_way_because_the_server_is_late(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has sent what was not read yet: on a slow machine a burst would close itself."""
    has_sent, goes_on = threading.Event(), threading.Event()
    setup = Connection.setup

    def late(self: Connection) -> None:
        select.select([self.request], [], [], 20)
        has_sent.set()
        goes_on.wait(20)
        setup(self)

    monkeypatch.setattr(Connection, "setup", late)
    answers: list[tuple[int, str]] = []
    asking = threading.Thread(target=lambda: answers.append(served.ask()))
    asking.start()
    assert has_sent.wait(20)
    with silent(served.address, 6) as clients:
        assert clients[0].recv(1) == b"", "a silent one does"
        monkeypatch.setattr(slots, "SHORT", 60.0)
        goes_on.set()
        asking.join(20)
    assert answers == [(200, "answered")]


@pytest.mark.usefixtures("few")
def test_a_known_client_may_begin_late_though_strangers_wait(served: Served) -> None:
    """As an API server that has much to do: without an answer its eviction passes."""
    assert served.ask() == (200, "answered")
    late = served.connect()
    late.connect()
    with contextlib.closing(late), silent(served.address, 6) as clients:
        assert clients[0].recv(1) == b"", "a stranger has had its time"
        late.request("POST", PATH, "{}")
        assert late.getresponse().status == 200


@pytest.mark.usefixtures("few")
def test_a_server_that_is_full_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "SHORT", 60.0)
    with silent(served.address, 10) as clients:
        assert served.ask() == (200, "answered")
        assert served.server.end()
        with contextlib.suppress(ConnectionResetError):
            assert clients[-1].recv(1) == b""


def test_the_process_may_have_files_for_all_that_wait(tmp_path: Path) -> None:
    """Many systems give a process 1,024 unless it asks for more."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before, 1024), most))
    try:
        made = Served(tmp_path)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(WAITING + MOST, most)
        assert made.server.end()
        made.thread.join(5)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def _status_of(served: Served, length: int) -> int:
    """What is answered to the head of a request with a body of this length."""
    made = served.connect()
    made.putrequest("POST", PATH)
    made.putheader("Content-Length", str(length))
    made.endheaders()
    status = made.getresponse().status
    made.close()
    return status


def _is_closed(client: socket.socket) -> bool:
    """Whether the server has closed a connection on which it sends nothing."""
    client.settimeout(0)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
