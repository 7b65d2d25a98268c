"""Evenkeel as it is deployed, around any cluster: its functions, two queues, schedules."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import (
    HANDOVER_TIMEOUT,
    HandoverSettings,
    InterruptionSettings,
    Mode,
    RestoreSettings,
)
from evenkeel_hosting import functions
from evenkeel_hosting.functions import Ports
from evenkeel_sandbox.events import HOOK
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource, SimulatedSchedule
from evenkeel_sandbox.simulator.queues import SimulatedQueue

CLUSTER_NAME: Final = "evenkeel"
"""What instances' tags call the cluster, where the command itself makes the tags."""

NOTICE_RETENTION: Final = timedelta(seconds=300)


class Application:
    """The Lambda functions' own handlers, invoked with SQS records as Lambda does it.

    ``driver`` is the clock on which messages become visible and invocations run. It may be
    the ports' own clock, or one that is moved along beside a real one.
    """

    def __init__(
        self,
        ports: Ports,
        driver: SimulatedClock,
        mode: Mode,
        labels: CapacityLabels = WELL_KNOWN,
        *,
        stands_in: bool = False,
    ) -> None:
        """Deploy: from now on messages and the schedule are served when the driver moves.

        ``labels`` tell which nodes are spot. ``stands_in``: where functions are deployed as well,
        they hand over.
        """
        self._ports = ports
        self._driver = driver
        self._mode = mode
        self._labels = labels
        self._notices = SimulatedQueue(driver, "evenkeel-notices", retention=NOTICE_RETENTION)
        self._wake_ups = SimulatedQueue(driver, "evenkeel-wake-ups", visibility=HANDOVER_TIMEOUT)
        marking = functions.interruption(
            InterruptionSettings(
                mode=mode,
                cluster_name=CLUSTER_NAME,
                capacity_labels=labels,
                lifecycle_hook=HOOK,
            ),
            ports,
            self._notices,
            self._wake_ups,
        )
        moving = functions.handover(
            HandoverSettings(
                mode=mode,
                cluster_name=CLUSTER_NAME,
                capacity_labels=labels,
                lifecycle_hook=HOOK,
                stands_in=stands_in,
            ),
            ports,
            self._wake_ups,
        )
        self._sources: Sequence[SimulatedEventSource | SimulatedSchedule] = (
            SimulatedEventSource(driver, self._notices, marking),
            SimulatedEventSource(driver, self._wake_ups, moving, concurrency=functions.HANDOVERS),
            SimulatedSchedule(driver, moving, timeout=HANDOVER_TIMEOUT),
        )

    def begin_restore(self) -> None:
        """Deploy the restore function, too: it comes once a minute from now on."""
        settings = RestoreSettings(
            mode=self._mode, cluster_name=CLUSTER_NAME, capacity_labels=self._labels
        )
        restoring = functions.restore(settings, self._ports, self._wake_ups)
        self._sources = (*self._sources, SimulatedSchedule(self._driver, restoring))

    def send(self, event: Mapping[str, Any]) -> None:
        """Put one event into the notice queue, as EventBridge does."""
        self._notices.put(json.dumps(event))

    @property
    def is_idle(self) -> bool:
        """Whether no message waits and no invocation runs: only the schedule goes on."""
        return not (
            self._notices.messages
            or self._wake_ups.messages
            or any(source.running for source in self._sources)
        )

    @property
    def errors(self) -> Sequence[Exception]:
        """What the functions raised; Lambda would have tried again, so may this."""
        return [error for source in self._sources for error in source.errors]
