"""Evenkeel as it is deployed: two functions, two queues and a schedule, on the wall clock."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Lock, Thread
from typing import Any

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.handlers import Handler
from evenkeel.model.times import earliest
from evenkeel.ports import Clock, Instances, LifecycleActions, Ports
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode
from evenkeel_hosting import functions
from evenkeel_hosting.events import schedule_event
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_runtime.poll.event_source import done
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_runtime.poll.sources import RecordDocument
from tests.e2e.accounts import held
from tests.e2e.wire import TappedCluster
from tests.kit.control_plane import ControlPlane

CLUSTER_NAME = "e2e"
FUNCTIONS = ("interruption", "handover")
HOOK = "evenkeel"
"""The lifecycle hook that is heeded, where there is an Auto Scaling."""
CONCURRENCY = 2
IDLE_POLL = 0.02
STOPPING = 30.0
AT_REST = timedelta(seconds=6)
"""Longer than any pause between two invocations that still have work."""


class Evenkeel:
    """Both functions with their queues, polled on the wall clock by threads.

    As under Lambda, every concurrent invocation has an environment, and so a handler and an
    identity in the Lease, of its own. ``clusters``: the cluster as each function sees it.
    ``handover``: further settings of that function's.
    """

    def __init__(
        self,
        control_plane: ControlPlane,
        instances: Instances,
        clock: Clock,
        *,
        mode: Mode = Mode.ACT,
        lifecycle: LifecycleActions | None = None,
        clusters: Mapping[str, TappedCluster] | None = None,
        **handover: Any,
    ) -> None:
        self._wait_for = control_plane.wait_for
        self._instances = instances
        self._clock = clock
        self._mode = mode
        self._lifecycle = lifecycle
        self._settings = handover
        self._opened = from_kubeconfig(kubeconfig=str(held(control_plane)))
        self.cluster = TappedCluster(self._opened, clock)
        self.clusters = clusters or dict.fromkeys(FUNCTIONS, self.cluster)
        self.recorder = InMemoryRecorder()
        self.errors: list[Exception] = []
        self._notices = InProcessQueue(self._clock, "notices")
        self._wake_ups = InProcessQueue(self._clock, "wake-ups")
        self._scheduled = self._handover()
        self._stopping = Event()
        self._lock = Lock()
        self._busy = 0
        self._invocations = 0
        self._threads = [
            Thread(target=self._poll, args=(queue, build()), name=queue.name, daemon=True)
            for queue, build in (
                (self._notices, self._interruption),
                (self._wake_ups, self._handover),
            )
            for _ in range(CONCURRENCY)
        ]
        for thread in self._threads:
            thread.start()

    def notify(self, *events: Mapping[str, Any]) -> None:
        """Put events into the notice queue, as EventBridge does."""
        for event in events:
            self._notices.put(json.dumps(event))

    def schedule(self) -> None:
        """Invoke the handover function as its schedule does, once, and do not wait for it."""
        with self._lock:
            self._busy += 1
        thread = Thread(target=self._run_scheduled, name="schedule", daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait_until_at_rest(self, seconds: float = 60.0) -> None:
        """Wait until nothing runs, and nothing will for a while: time alone can bring news.

        An error of a handler's fails the test at once.
        """
        self._wait_for("Evenkeel to rest", self._is_at_rest, seconds=seconds, progress=self._done)

    def wait_until_quiet(self, seconds: float = 60.0) -> None:
        """Wait until no message is left: only the schedule goes on."""
        self._wait_for(
            "both queues to be empty",
            lambda: self._is_at_rest() and self._next_message() is None,
            seconds=seconds,
            progress=self._done,
        )

    def _done(self) -> tuple[int, int]:
        """What has happened so far."""
        return self._invocations, len(self.recorder.decisions)

    def _is_at_rest(self) -> bool:
        assert not self.errors, self.errors
        before = self._invocations
        upcoming = self._next_message()
        nothing_soon = upcoming is None or upcoming - self._clock.now() > AT_REST
        return nothing_soon and self._busy == 0 and self._invocations == before

    def _next_message(self) -> datetime | None:
        return earliest(self._notices.next_visible, self._wake_ups.next_visible)

    @property
    def story(self) -> str:
        """What it decided and noted, for a failure's report."""
        decided = [
            f"{d.verb} {d.subject}: {d.reason}: {d.message}" for d in self.recorder.decisions
        ]
        noted = [f"{message} {dict(details)}" for message, details in self.recorder.notes]
        return "\n".join([f"--- {self._mode}", *decided, *noted, ""])

    def stop(self) -> None:
        """End every invocation, wherever it is, as if the network had gone."""
        self._stopping.set()
        for cluster in self.clusters.values():
            cluster.cut()
        for thread in self._threads:
            thread.join(STOPPING)
            assert not thread.is_alive(), f"the poller of {thread.name} does not end"
        self._opened.close()

    def _poll(self, queue: InProcessQueue, handler: Handler) -> None:
        while not self._stopping.is_set():
            with self._counting():
                batch = queue.receive(timedelta())
                if batch:
                    self._invoke(queue, handler, batch)
            if not batch:
                self._stopping.wait(IDLE_POLL)

    def _invoke(
        self, queue: InProcessQueue, handler: Handler, batch: Sequence[RecordDocument]
    ) -> None:
        try:
            answer = handler({"Records": list(batch)}, None)
        except Exception as error:  # noqa: BLE001 - Lambda takes whatever is raised
            if not self._stopping.is_set():
                self.errors.append(error)
            return
        queue.delete(done(batch, answer))
        self._invocations += 1

    def _run_scheduled(self) -> None:
        try:
            self._scheduled(schedule_event(self._clock.now()), None)
        except Exception as error:  # noqa: BLE001 - Lambda takes whatever is raised
            if not self._stopping.is_set():
                self.errors.append(error)
        finally:
            self._invocations += 1
            with self._lock:
                self._busy -= 1

    @contextmanager
    def _counting(self) -> Iterator[None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def _interruption(self) -> Handler:
        settings = InterruptionSettings(
            mode=self._mode, cluster_name=CLUSTER_NAME, lifecycle_hook=self._hook
        )
        return functions.interruption(
            settings, self._ports("interruption"), self._notices, self._wake_ups
        )

    def _handover(self) -> Handler:
        settings = HandoverSettings(
            mode=self._mode,
            cluster_name=CLUSTER_NAME,
            lifecycle_hook=self._hook,
            **self._settings,
        )
        return functions.handover(settings, self._ports("handover"), self._wake_ups)

    def _ports(self, function: str) -> Ports:
        cluster, observes = self.clusters[function], self._mode is Mode.OBSERVE
        events = ClusterEvents(cluster, self._clock, self.recorder, observes=observes)
        recorder = Tee(self.recorder, events)
        return Ports(cluster, self._instances, self._clock, recorder, self._lifecycle)

    @property
    def _hook(self) -> str:
        return HOOK if self._lifecycle is not None else ""
