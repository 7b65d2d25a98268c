"""The webhook's own server: slow and broken clients, what it logs, how it ends.

A request has a minute here, but for those that are to be too slow.
"""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel_runtime.serve import connection, server
from tests.kit.served import PATH, Served
from tests.kit.silence import silent

ZEROS = b"0" * 12


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(connection, "REQUEST", 60.0)
    made = Served(tmp_path)
    yield made
    assert made.server.end()
    made.thread.join(20)


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
        (b"POST /v1/secret-path/" + b"x" * 17_000 + b" HTTP/1.1\r\n\r\n", b"431"),
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


def test_slow_clients_block_no_other(served: Served) -> None:
    with (
        silent(served.address, 20),
        socket.create_connection(served.address, timeout=20) as plain,
        served.client.wrap_socket(plain, server_hostname="127.0.0.1") as slow,
    ):
        slow.sendall(b"POST /v1/secret-path HTTP/1.1\r\nContent-Len")
        assert served.ask() == (200, "answered")


def test_a_client_that_is_silent_instead_of_shaking_hands_is_disconnected(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REQUEST", 0.1)
    with silent(served.address, 1) as (client,):
        assert client.recv(1) == b""


@pytest.mark.parametrize("ends", [b"", b"\r\n\r\n"], ids=["its head", "its body"])
def test_a_client_whose_request_drips_is_disconnected(
    ends: bytes, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has as long for all of its request as for a part of it."""
    with (
        socket.create_connection(served.address, timeout=20) as plain,
        served.client.wrap_socket(plain, server_hostname="127.0.0.1") as slow,
    ):
        monkeypatch.setattr(connection, "REQUEST", 0.1)
        slow.sendall(b"POST /v1/secret-path HTTP/1.1\r\nContent-Length: 9000" + ends)
        assert any(_is_closed_after_a_drop(slow) for _ in range(2000))
    assert served.events == []


def test_in_the_end_what_is_under_way_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ENDING", 60.0)
    served = Served(tmp_path)
    served.wait.clear()
    answers: list[tuple[int, str]] = []
    asking = threading.Thread(target=lambda: answers.append(served.ask()))
    asking.start()
    assert served.has_begun.wait(20)
    threading.Timer(0.2, served.wait.set).start()
    assert served.server.end()
    asking.join(20)
    served.thread.join(20)
    assert answers == [(200, "answered")]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(served.address, timeout=20)


def test_no_plain_http_is_spoken(served: Served) -> None:
    with socket.create_connection(served.address, timeout=20) as plain:
        plain.sendall(b"POST /v1/secret-path HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert b"HTTP" not in plain.recv(1000)
    assert served.events == []


def _is_closed_after_a_drop(client: ssl.SSLSocket) -> bool:
    """Whether the server closes a connection while it gets one byte more."""
    client.settimeout(0.01)
    try:
        client.sendall(b"x")
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
