"""Watches beside the server's answers: they show the extender's store what changes."""

from datetime import timedelta
from threading import Event, Thread
from typing import Final, Self

from evenkeel.model.request import Change, Relisted
from evenkeel.ports import Cluster, Recorder, Reply, Session
from evenkeel_extender.store import SELECTIONS, Shown, Store

TURN: Final = timedelta(seconds=1)
"""So long a turn waits for something to be shown."""

PAUSE: Final = 1.0
"""Seconds until watches begin anew that ended by a failure."""

ENDING: Final = 5.0
"""Seconds that the watches have in the end."""


class Watching:
    """A thread that watches all that a store holds. Use it in a with statement."""

    def __init__(self, cluster: Cluster, store: Store, recorder: Recorder) -> None:
        self._cluster = cluster
        self._store = store
        self._recorder = recorder
        self._is_over = Event()
        self._thread = Thread(target=self._run, name="evenkeel-watching", daemon=True)

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the watches."""
        self._is_over.set()
        self._thread.join(ENDING)

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                self._watch()
            except Exception as error:  # noqa: BLE001 - whatever it was, watches begin anew
                self._store.reset()
                self._recorder.noted(f"watches begin anew: {error}", error=type(error).__name__)
                self._is_over.wait(PAUSE)

    def _watch(self) -> None:
        with self._cluster.session() as session:
            for selection in SELECTIONS:
                session.watch(selection)
            while not self._is_over.is_set():
                self._turn(session)

    def _turn(self, session: Session) -> None:
        was_filled = self._store.is_filled
        shown: list[Shown] = []
        for arrival in session.next(TURN):
            if isinstance(arrival, Change | Relisted):
                shown.append(arrival)
            elif isinstance(arrival, Reply) and arrival.error is not None:
                self._recorder.noted(f"a watch is refused: {arrival.request}: {arrival.error}")
        self._store.absorb(shown)
        if self._store.is_filled and not was_filled:
            self._recorder.noted(
                "the scheduler is answered: all nodes, pods and workloads are known"
            )
