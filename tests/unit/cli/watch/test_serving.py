"""The page's server: the page, its events, and nobody else's business."""

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec
import pytest

from evenkeel_cli.page import html
from evenkeel_cli.watch.serving import Board, served
from tests.unit.cli.running import run
from tests.unit.cli.watch.rehearsed import story

SECONDS = 10


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def port(board: Board) -> Iterator[int]:
    with served("<p>the page</p>", board, 0) as address:
        found = urlsplit(address).port
        assert found is not None
        yield found


def get(port: int, path: str, host: str = "") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request("GET", path, headers={"Host": host} if host else {})
    return connection.getresponse()


def event(stream: http.client.HTTPResponse) -> str:
    lines = iter(lambda: stream.readline().decode().rstrip("\n"), "")
    return "\n".join(lines)


def test_it_serves_the_page_and_nothing_else(port: int) -> None:
    answer = get(port, "/")
    assert (answer.status, answer.read()) == (200, b"<p>the page</p>")
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert get(port, "/etc/passwd").status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:80"])
def test_a_name_that_was_made_to_lead_here_is_refused(port: int, host: str) -> None:
    assert get(port, "/", host).status == 403
    assert get(port, "/events", host).status == 403


def test_it_listens_on_the_loopback_address_alone(port: int) -> None:
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port), timeout=SECONDS)


def test_who_looks_gets_what_there_is_then_what_changes_and_that_it_is_over(
    board: Board, port: int
) -> None:
    board.put(b"1")
    stream = get(port, "/events")
    assert event(stream) == "event: screen\ndata: 1"
    board.put(b"1")
    board.put(b"2")
    assert event(stream) == "event: screen\ndata: 2"
    board.end()
    assert event(stream) == ": still there"
    assert event(stream) == "event: over\ndata: "
    late = get(port, "/events")
    assert [event(late), event(late)] == ["event: screen\ndata: 2", "event: over\ndata: "]


def test_a_port_that_is_taken_is_an_error(port: int) -> None:
    done = run("watch", "--built-in", "--serve", str(port))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: --serve {port}: Address already in use: name another")


def test_what_a_page_gets_is_one_line() -> None:
    _, midst, _ = story()
    data = msgspec.json.encode(midst)
    assert b"\n" not in data
    (ledger,) = [each for each in json.loads(data)["workloads"] if each["name"] == "deploy/ledger"]
    assert (ledger["subject"]["namespace"], ledger["wanted"]) == ("data", 1)


def test_the_page_may_talk_to_its_server_alone() -> None:
    text = html.watched()
    assert "connect-src 'self'" in text
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http://www.w3.org/", "").replace("http-equiv", "")
