"""The functions of a drain, and restore, in one process around a real cluster and real queues."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Event
from typing import Final

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.handlers import Handler
from evenkeel.ports import (
    Ports,
    Queue,
)
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode, RestoreSettings
from evenkeel_hosting import functions
from evenkeel_hosting.events import POLLERS, schedule_event
from evenkeel_runtime.poll.event_source import EventSource, Invocation, Note, Schedule
from evenkeel_runtime.poll.helpers import Helpers
from evenkeel_runtime.poll.sources import Source

HANDOVERS: Final = 2
"""So many batches of wake-ups at once: one at work, and one that looks whether it is."""

ENDING: Final = timedelta(seconds=25)
"""How long the batches under way may take in the end: a request and its tries, and some more."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What the functions act on. ``notices`` and ``wake_ups`` are the queues that they write to.

    ``note`` is told of what goes wrong outside of the functions, in one line.
    """

    ports: Ports
    notices: Queue
    wake_ups: Queue
    note: Note


class Application:
    """Polls both queues and keeps the schedule, from ``start`` to ``stop``."""

    def __init__(
        self,
        outside: Outside,
        marking: Callable[[], InterruptionSettings],
        moving: Callable[[], HandoverSettings],
        restoring: RestoreSettings,
        notices: Source,
        wake_ups: Source,
        helpers: Helpers,
    ) -> None:
        """``marking`` and ``moving`` make the settings of one handler: each has its own.

        ``helpers`` are called to share a storm.
        """
        self._helpers = helpers
        self._outside = outside
        self._marking = marking
        self._moving = moving
        self._restoring = restoring
        note = outside.note
        self._parts: Sequence[EventSource | Schedule | Helpers] = (
            EventSource(notices, [self._interruption() for _ in range(POLLERS)], note),
            EventSource(wake_ups, [self._handover() for _ in range(HANDOVERS)], note),
            Schedule("handover", self._handover(), outside.ports.clock, note),
            Schedule("restore", self._restore(), outside.ports.clock, note),
            helpers,
        )

    def share(self, stopping: Event) -> None:
        """Take a share of a divided storm, and see it through; nothing if there is none."""
        self._handover()(schedule_event(self._outside.ports.clock.now()), Invocation(stopping))

    def start(self) -> None:
        """Begin to poll."""
        for part in self._parts:
            part.start()

    def stop(self) -> bool:
        """End: no batch begins any more; whether those under way ended in time."""
        for part in self._parts:
            part.stop()
        give_up = self._outside.ports.clock.now() + ENDING
        ended = [
            part.join(max(timedelta(), give_up - self._outside.ports.clock.now()))
            for part in self._parts
        ]
        return all(ended)

    @property
    def is_alive(self) -> bool:
        """Whether all its parts are at work."""
        return all(part.is_alive for part in self._parts)

    def _interruption(self) -> Handler:
        settings, outside = self._marking(), self._outside
        ports = self._ports(settings.mode)
        return functions.interruption(settings, ports, outside.notices, outside.wake_ups)

    def _handover(self) -> Handler:
        settings = self._moving()
        ports = self._ports(settings.mode)
        return functions.handover(settings, ports, self._outside.wake_ups, self._helpers.call)

    def _restore(self) -> Handler:
        settings, outside = self._restoring, self._outside
        return functions.restore(settings, self._ports(settings.mode), outside.wake_ups)

    def _ports(self, mode: Mode) -> Ports:
        """All of them, with a recorder of Kubernetes Events of its own."""
        ports, observes = self._outside.ports, mode is Mode.OBSERVE
        events = ClusterEvents(ports.cluster, ports.clock, ports.recorder, observes=observes)
        return replace(ports, recorder=Tee(events, ports.recorder))
