"""Probes and Prometheus, as they are answered on a port of their own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import urllib3

from evenkeel_runtime import metrics_port
from evenkeel_runtime.metrics import PrometheusRecorder
from evenkeel_runtime.metrics_port import APART, MOST, serve
from tests.kit.silence import silent


class Port:
    """A port that is served, and what asks there."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.is_well = True
        self.recorder = PrometheusRecorder("prod")
        number = serve(self.recorder.registry, address, 0, lambda: self.is_well)
        self.address = (address, number)
        host = f"[{address}]" if ":" in address else address
        self.url = f"http://{host}:{number}"
        self.pool = urllib3.PoolManager(retries=False, timeout=20)

    def ask(self, path: str, method: str = "GET") -> tuple[int, str]:
        answer = self.pool.request(method, f"{self.url}{path}")
        return answer.status, answer.data.decode()


@pytest.fixture
def port() -> Iterator[Port]:
    made = Port()
    yield made
    made.pool.clear()


def test_metrics_and_health_are_answered(port: Port) -> None:
    status, text = port.ask("/metrics?name=x")
    assert status == 200
    assert 'evenkeel_pods_released_total{cluster="prod"} 0.0' in text
    assert port.ask("/healthz") == (200, "ok\n")
    port.is_well = False
    assert port.ask("/healthz")[0] == 503


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/", 404), ("POST", "/healthz", 405)]
)
def test_nothing_else_is(method: str, path: str, status: int, port: Port) -> None:
    assert port.ask(path, method)[0] == status


def test_silent_clients_hold_no_thread_and_no_probe_up(port: Port) -> None:
    port.ask("/healthz")
    before = threading.active_count()
    with silent(port.address, 2 * MOST, said=b"GET /healthz HTTP/1.1\r\n") as clients:
        assert port.ask("/healthz") == (200, "ok\n")
        assert port.ask("/metrics")[0] == 200
        assert threading.active_count() == before
        assert clients[0].recv(1) == b"", "the oldest is closed for one too many"


@pytest.mark.parametrize("said", [b"x" * 100_000, b"\xff\xfe\r\n\r\n", b""])
def test_what_is_no_request_is_no_trouble(
    said: bytes, port: Port, capfd: pytest.CaptureFixture[str]
) -> None:
    with silent(port.address, 1, said=said) as (client,):
        client.shutdown(socket.SHUT_WR)
        while _received(client):
            pass
    assert port.ask("/healthz")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_client_that_takes_too_long_is_disconnected(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_port, "PATIENCE", 0.1)
    with silent(port.address, 1) as (client,):
        assert client.recv(1) == b""


def test_a_port_that_is_taken_is_an_error(port: Port) -> None:
    with pytest.raises(OSError, match="in use"):
        serve(port.recorder.registry, *port.address, lambda: True)


def test_it_is_served_over_ipv6_too() -> None:
    made = Port("::1")
    assert made.ask("/healthz") == (200, "ok\n")
    made.pool.clear()


def _received(client: socket.socket) -> bytes:
    try:
        return client.recv(65536)
    except ConnectionResetError:
        return b""


def test_metrics_are_written_so_often_and_probes_are_answered_meanwhile(port: Port) -> None:
    began = time.monotonic()
    with ExitStack() as made:
        asking = [
            made.enter_context(socket.create_connection(port.address, timeout=20))
            for _ in range(21)
        ]
        for each in asking:
            each.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert port.ask("/healthz") == (200, "ok\n")
        assert time.monotonic() - began < 20 * APART, "before them"
        assert all(each.recv(12) == b"HTTP/1.1 200" for each in asking)
    assert time.monotonic() - began > 19 * APART
