"""A thread that follows the cluster in a session, and in a new one after a failure."""

from threading import Event, Thread
from typing import Final, Protocol, Self

from evenkeel.ports import Cluster, Recorder, Session

ENDING: Final = 5.0
"""Seconds that a session has in the end."""


class Follower(Protocol):
    """What follows the cluster. An exception of either method ends the session."""

    def begin(self, session: Session) -> None:
        """A session begins: have it watch."""
        ...

    def turn(self, session: Session) -> None:
        """Wait a second at most for something to arrive, and take it."""
        ...


class Following:
    """The thread. Use it in a with statement."""

    def __init__(
        self, follower: Follower, cluster: Cluster, recorder: Recorder, *, name: str, pause: float
    ) -> None:
        """``pause``: seconds between a session that failed and the next one."""
        self._follower = follower
        self._cluster = cluster
        self._recorder = recorder
        self._name = name
        self._pause = pause
        self._is_over = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        """Begin to follow."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End after the turn that goes on."""
        self._is_over.set()
        self._thread.join(ENDING)

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                with self._cluster.session() as session:
                    self._follower.begin(session)
                    while not self._is_over.is_set():
                        self._follower.turn(session)
            except Exception as error:  # noqa: BLE001 - any error ends one session alone
                kind = type(error).__name__
                self._recorder.noted(f"{self._name} begins anew: {error}", error=kind)
                self._is_over.wait(self._pause)
