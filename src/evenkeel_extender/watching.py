"""Fills the extender's store with what watches show."""

from datetime import timedelta
from typing import Final

from evenkeel.model.request import Change, Relisted
from evenkeel.ports import Recorder, Reply, Session
from evenkeel_extender.store import SELECTIONS, Shown, Store

TURN: Final = timedelta(seconds=1)
"""So long a turn waits for something to be shown."""


class Watching:
    """A follower of the cluster that fills a store."""

    def __init__(self, store: Store, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder

    def begin(self, session: Session) -> None:
        """Forget what an earlier session has shown, and watch all that a store holds."""
        self._store.reset()
        for selection in SELECTIONS:
            session.watch(selection)

    def turn(self, session: Session) -> None:
        """Put into the store what has been shown."""
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
