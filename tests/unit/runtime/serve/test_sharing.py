"""Reads that several threads ask for at once: asked once, and never before they asked."""

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Get, List, Request, Selection
from evenkeel.ports import Reply
from evenkeel_runtime.serve import sharing
from evenkeel_runtime.serve.sharing import SharingCluster

QUESTION = Get(Pod, "web", "shop")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread gives up because the machine is slow."""
    monkeypatch.setattr(sharing, "PATIENCE", timedelta(minutes=1))


class Slow:
    """A cluster that answers when it is told to, with the number of the question."""

    def __init__(self) -> None:
        self.asked: list[Sequence[Request]] = []
        self.gate = threading.Semaphore(0)
        self.opened: Any = object()

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        self.asked.append(requests)
        number = len(self.asked)
        assert self.gate.acquire(timeout=60)
        if number == 99:
            raise ZeroDivisionError
        pod = Pod(metadata=Metadata(name=str(number)))
        return [Reply(request, result=pod) for request in requests]

    def session(self) -> Any:
        return self.opened


class Askers:
    """Threads that ask."""

    def __init__(self, cluster: SharingCluster) -> None:
        self.cluster = cluster
        self.threads: list[threading.Thread] = []
        self.heard: list[str] = []

    def ask(self, request: Request = QUESTION) -> None:
        def body() -> None:
            (reply,) = self.cluster.perform([request])
            assert isinstance(reply.result, Pod)
            self.heard.append(reply.result.name)

        thread = threading.Thread(target=body)
        thread.start()
        self.threads.append(thread)

    def join(self) -> list[str]:
        for thread in self.threads:
            thread.join(60)
        return sorted(self.heard)


def until(condition: Any) -> None:
    for _ in range(6000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail("it did not come to that")


def test_a_thread_that_asks_while_a_question_is_under_way_shares_the_next() -> None:
    slow = Slow()
    shared = SharingCluster(slow)
    askers = Askers(shared)
    askers.ask()
    until(lambda: len(slow.asked) == 1)
    for _ in range(5):
        askers.ask()
    until(lambda: len(shared._to_ask) == 1)
    slow.gate.release()
    until(lambda: len(slow.asked) == 2)
    slow.gate.release(2)
    heard = askers.join()
    assert heard[0] == "1"
    assert set(heard[1:]) <= {"2", "3"}
    assert shared._asked == {}
    assert shared._to_ask == {}


def test_other_questions_are_other_questions() -> None:
    slow = Slow()
    askers = Askers(SharingCluster(slow))
    askers.ask()
    askers.ask(Get(Pod, "web", "other"))
    until(lambda: len(slow.asked) == 2)
    slow.gate.release(2)
    assert askers.join() == ["1", "2"]


def test_a_write_is_never_shared() -> None:
    slow = Slow()
    shared = SharingCluster(slow)
    slow.gate.release(2)
    write = Create(Pod(metadata=Metadata(name="a")))
    shared.perform([write])
    shared.perform([List(Selection(Pod)), write])
    assert len(slow.asked) == 2
    assert shared.session() is slow.opened


def test_a_thread_that_shares_a_question_that_broke_down_gets_no_answer() -> None:
    slow = Slow()
    shared = SharingCluster(slow)
    slow.asked = [()] * 98
    slow.gate.release(1)
    with pytest.raises(ZeroDivisionError):
        shared.perform([QUESTION])
    assert shared._asked == {}
    shared._cluster = Nobody()
    (reply,) = shared.perform([QUESTION])
    assert isinstance(reply.error, UnavailableError)


class Nobody(Slow):
    """Answers nothing at all."""

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        del requests
        return []
