"""The clients that make pods and evict them."""

import time
from threading import Barrier, Lock, current_thread

from bench.cases.gate import Evictor
from bench.cases.webhook import CLIENTS, paced, pressed


def test_a_creation_that_waits_for_a_client_has_that_on_its_account() -> None:
    """A server that answers one after the other, slower than they are due."""
    lock = Lock()

    def create() -> None:
        with lock:
            time.sleep(0.01)  # noqa: TID251 - what is measured is real time

    took = paced(create, 40, 1_000)
    assert len(took) == 40
    assert max(took) > 0.3


def test_every_client_makes_some_and_all_are_made() -> None:
    """Each client waits in its first creation until all are at work."""
    seen: list[str] = []
    together = Barrier(CLIENTS)

    def create() -> None:
        is_first = current_thread().name not in seen
        seen.append(current_thread().name)
        if is_first:
            together.wait(60)

    seconds, took = pressed(create, 100)
    assert len(took) == len(seen) == 100
    assert len(set(seen)) == CLIENTS
    assert 0 < max(took) <= seconds


def test_an_eviction_that_is_put_off_is_asked_for_again_before_a_new_one() -> None:
    asked: list[str] = []

    def evict(pod: str) -> float | None:
        asked.append(pod)
        return 0.001 if asked.count(pod) == 1 else None

    evictor = Evictor(evict, 1_000, ["b", "a"])
    answers = evictor.run(0.1)
    assert sorted(asked) == ["a", "a", "b", "b"]
    assert sorted(each.deferred for each in answers) == [False, False, True, True]
