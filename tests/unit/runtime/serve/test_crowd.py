"""More connections than threads: who is answered all the same, and who gives way.

A request has a minute here. So where one is answered, no client's time was simply over.
"""

import contextlib
import resource
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel_runtime.serve import connection, slots
from evenkeel_runtime.serve.connection import Connection
from evenkeel_runtime.serve.server import WAITING
from evenkeel_runtime.serve.slots import MOST
from tests.fixtures.served import Served
from tests.fixtures.silence import silent


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
