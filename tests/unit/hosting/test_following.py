"""A thread that follows the cluster: the thread is real, the cluster simulated."""

import threading

import pytest

from evenkeel.ports import Session
from evenkeel_hosting.following import Following
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit.scene import Scene

WITHIN = 10.0
"""Seconds that the thread has for what it does at once."""

NAME = "the watch"


class FailsOnce:
    """A follower whose second turn fails. ``reached`` has an event for each turn."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.turns = 0
        self.reached = {number: threading.Event() for number in (2, 3)}

    def begin(self, session: Session) -> None:
        self.sessions.append(session)

    def turn(self, session: Session) -> None:
        assert session is self.sessions[-1]
        self.turns += 1
        if self.turns in self.reached:
            self.reached[self.turns].set()
        if self.turns == 2:
            raise ZeroDivisionError("by chance")


@pytest.mark.parametrize(("pause", "turn", "sessions"), [(0, 3, 2), (3600, 2, 1)])
def test_it_begins_anew_a_pause_after_a_failure_and_ends_when_it_is_told(
    pause: float, turn: int, sessions: int
) -> None:
    follower, recorder = FailsOnce(), InMemoryRecorder()
    with Following(follower, Scene().cluster, recorder, name=NAME, pause=pause):
        assert follower.reached[turn].wait(WITHIN)
    assert NAME not in [thread.name for thread in threading.enumerate()]
    assert len(follower.sessions) == sessions
    noted = f"{NAME} begins anew: by chance"
    assert recorder.notes == [(noted, {"error": "ZeroDivisionError"})]
