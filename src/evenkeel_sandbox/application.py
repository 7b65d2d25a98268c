"""Evenkeel as it is deployed, around any cluster: its functions, two queues, schedules."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.handlers import Handler
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.ports import Ports
from evenkeel.settings import (
    HANDOVER_TIMEOUT,
    HandoverSettings,
    InterruptionSettings,
    Mode,
    RestoreSettings,
)
from evenkeel.settings.handover import SEATS
from evenkeel_hosting import functions
from evenkeel_sandbox.events import HOOK
from evenkeel_sandbox.simulator.clock import Process, SimulatedClock
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource, SimulatedSchedule
from evenkeel_sandbox.simulator.queues import SimulatedQueue

CLUSTER_NAME: Final = "evenkeel"
"""What instances' tags call the cluster, where the command itself makes the tags."""

NOTICE_RETENTION: Final = timedelta(seconds=300)


class Environments:
    """A Lambda function's environments: each has a handler, so memory and an identity, of its own.

    An invocation takes an idle one, or a new one. One that was killed or whose handler raised is
    not used again; one that is not ``kept`` serves a single event.
    """

    def __init__(self, build: Callable[[], Handler], *, kept: bool = True) -> None:
        """There is none yet."""
        self._build = build
        self._idle: list[Handler] = []
        self._kept = kept

    @property
    def idle(self) -> Sequence[Handler]:
        """Those that serve no event now."""
        return tuple(self._idle)

    def end(self) -> None:
        """Let the next invocation take a new one."""
        self._idle.clear()

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        """Invoke the function."""
        handler = self._idle.pop() if self._idle else self._build()
        answer = handler(event, context)
        if self._kept:
            self._idle.append(handler)
        return answer


class Wiring:
    """What invokes the functions of a drain: two queues and the schedule, which begin at once.

    ``driver`` is the clock on which messages become visible and invocations run. It may be
    the ports' own clock, or one that is moved along beside a real one.
    """

    def __init__(
        self,
        driver: SimulatedClock,
        notices: SimulatedQueue,
        wake_ups: SimulatedQueue,
        marking: Handler,
        moving: Handler,
    ) -> None:
        """Deploy: from now on messages and the schedule are served when the driver moves."""
        concurrency = functions.HANDOVERS
        self.driver = driver
        self.notices = notices
        self.wake_ups = wake_ups
        self.marking = SimulatedEventSource(driver, notices, marking)
        self.moving = SimulatedEventSource(driver, wake_ups, moving, concurrency=concurrency)
        self.schedule = SimulatedSchedule(driver, moving, timeout=HANDOVER_TIMEOUT)
        self.besides: list[SimulatedSchedule] = []

    def send(self, event: Mapping[str, Any]) -> None:
        """Put one event into the notice queue, as EventBridge does."""
        self.notices.put(json.dumps(event))

    @property
    def is_idle(self) -> bool:
        """Whether no message waits and no invocation runs: only the schedule goes on."""
        return not (self.notices.messages or self.wake_ups.messages or self.running)

    @property
    def running(self) -> Sequence[Process]:
        """The invocations under way."""
        return [each for source in self._sources for each in source.running]

    @property
    def errors(self) -> Sequence[Exception]:
        """What the functions raised; Lambda would have tried again, so may this."""
        return [error for source in self._sources for error in source.errors]

    @property
    def _sources(self) -> Sequence[SimulatedEventSource | SimulatedSchedule]:
        return (self.marking, self.moving, self.schedule, *self.besides)


class Application(Wiring):
    """The Lambda functions' own handlers, invoked with SQS records as Lambda does it."""

    def __init__(
        self,
        ports: Ports,
        driver: SimulatedClock,
        mode: Mode,
        labels: CapacityLabels = WELL_KNOWN,
        *,
        stands_in: bool = False,
        seats: int = SEATS.usual,
    ) -> None:
        """Deploy them.

        ``labels`` tell which nodes are spot. ``stands_in``: where functions are deployed as well,
        they hand over. ``seats``: so many there may be at a time.
        """
        self._ports = ports
        self._mode = mode
        self._labels = labels
        notices = SimulatedQueue(driver, "evenkeel-notices", retention=NOTICE_RETENTION)
        wake_ups = SimulatedQueue(driver, "evenkeel-wake-ups", visibility=HANDOVER_TIMEOUT)
        marking = InterruptionSettings(
            mode=mode, cluster_name=CLUSTER_NAME, capacity_labels=labels, lifecycle_hook=HOOK
        )
        moving = HandoverSettings(
            mode=mode,
            cluster_name=CLUSTER_NAME,
            capacity_labels=labels,
            lifecycle_hook=HOOK,
            seats=seats,
            stands_in=stands_in,
        )
        super().__init__(
            driver,
            notices,
            wake_ups,
            functions.interruption(marking, ports, notices, wake_ups),
            functions.handover(moving, ports, wake_ups),
        )

    def begin_restore(self) -> None:
        """Deploy the restore function, too: it comes once a minute from now on."""
        settings = RestoreSettings(
            mode=self._mode, cluster_name=CLUSTER_NAME, capacity_labels=self._labels
        )
        restoring = functions.restore(settings, self._ports, self.wake_ups)
        self.besides.append(SimulatedSchedule(self.driver, restoring))
