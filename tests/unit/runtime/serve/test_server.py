"""The webhook's own server: slow and broken clients, what it logs, how it ends."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel_runtime.serve import connection
from tests.fixtures.served import PATH, Served

ZEROS = b"0" * 12


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(connection, "REQUEST", 0.5)
    made = Served(tmp_path)
    yield made
    assert made.server.end()
    made.thread.join(5)


def test_a_request_reaches_the_handler_as_from_an_http_api(served: Served) -> None:
    assert served.ask(path=f"{PATH}?timeout=3s", body='{"a": 1}') == (200, "answered")
    (event,) = served.events
    assert event["rawPath"] == PATH
    assert event["requestContext"] == {"http": {"method": "POST"}}
    assert event["headers"]["content-type"] == "application/json"
    assert json.loads(event["body"]) == {"a": 1}


def test_a_connection_is_kept_for_the_next_request_after_a_good_one(served: Served) -> None:
    made = served.connect()
    for _ in range(3):
        made.request("POST", PATH, "{}")
        assert made.getresponse().read() == b"answered"
    assert len({note[0] for note in served.noted(3)}) == 1
    made.request("POST", "/v1/other", "{}")
    answer = made.getresponse()
    assert (answer.status, answer.headers["Connection"]) == (401, "close")
    answer.read()
    made.close()


@pytest.mark.parametrize(("path", "status"), [("/v1/other", 401), ("/", 404)])
def test_a_request_to_another_path_is_answered_before_its_body_is_read(
    served: Served, path: str, status: int
) -> None:
    """A stranger could fill the memory with bodies otherwise."""
    made = served.connect()
    made.putrequest("POST", path)
    made.putheader("Content-Length", "3000000")
    made.endheaders()
    answer = made.getresponse()
    assert (answer.status, answer.headers["Connection"]) == (status, "close")
    made.close()
    assert served.events == []


def test_a_probe_is_answered_without_the_handler(served: Served) -> None:
    assert served.ask("GET", "/healthz", None) == (200, "ok\n")
    assert served.events == []


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /v1/secret-path HTTP/1.1\r\nHost: x\r\n\r\n", b"411"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"411"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 1" + b"0" * 40 + b"\r\n\r\n", b"413"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 1" + b"0" * 5000 + b"\r\n\r\n", b"413"),
        (
            b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: " + ZEROS + b"99999999\r\n\r\n",
            b"413",
        ),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: +2\r\n\r\n{}", b"411"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n", b"411"),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n{}", b"411"),
        (
            b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}",
            b"411",
        ),
        (
            b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: x\r\n\r\n{}",
            b"411",
        ),
        (b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 1\r\n\r\n\xff", b"400"),
        (b"DELETE /v1/secret-path HTTP/1.1\r\n\r\n", b"405"),
        (b"POST /v1/secret-path HTTP/9.9\r\n\r\n", b"505"),
        (b"/v1/secret-path\r\n\r\n", b"400"),
        (b"POST /v1/secret-path/" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
    ],
)
def test_what_cannot_be_read_is_refused_without_repeating_it(
    sent: bytes, status: bytes, served: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = served.raw(sent)
    assert status in answer.partition(b"\r\n")[0]
    assert b"secret" not in answer
    assert b"Traceback" not in answer
    assert capfd.readouterr() == ("", "")


def test_what_is_noted_never_holds_the_path(served: Served) -> None:
    served.ask()
    served.ask("GET", "/v1/secret-path")
    assert [note[1:3] for note in served.noted(2)] == [("POST", 200), ("GET", 200)]
    assert "secret" not in repr(served.notes)


def test_slow_clients_block_no_other_and_are_disconnected(served: Served) -> None:
    silent = [socket.create_connection(served.address) for _ in range(20)]
    dripping = socket.create_connection(served.address)
    slow = served.client.wrap_socket(dripping, server_hostname="127.0.0.1")
    slow.sendall(b"POST /v1/secret-path HTTP/1.1\r\nContent-Len")
    began = time.monotonic()
    assert served.ask() == (200, "answered")
    assert time.monotonic() - began < 0.5
    slow.settimeout(3)
    for _ in range(100):
        time.sleep(0.02)  # noqa: TID251 - a real socket has its own clock
        try:
            slow.sendall(b"x")
        except OSError:
            break
    else:
        pytest.fail("a client that drips is served for ever")
    slow.close()
    for each in silent:
        each.settimeout(3)
        assert each.recv(1) == b""
        each.close()


def test_in_the_end_what_is_under_way_is_answered(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.wait.clear()
    answers: list[tuple[int, str]] = []
    asking = threading.Thread(target=lambda: answers.append(served.ask()))
    asking.start()
    while not served.events:
        time.sleep(0.01)  # noqa: TID251 - another thread has its own clock
    threading.Timer(0.2, served.wait.set).start()
    assert served.server.end()
    asking.join(5)
    served.thread.join(5)
    assert answers == [(200, "answered")]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(served.address, timeout=1)


def test_no_plain_http_is_spoken(served: Served) -> None:
    with socket.create_connection(served.address, timeout=3) as plain:
        plain.sendall(b"POST /v1/secret-path HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert b"HTTP" not in plain.recv(1000)
    assert served.events == []
