"""What happens to pods, as an observer sees it that knows nothing of Evenkeel.

The witness follows the pods of one namespace through a watch of its own. The API server sends
every change in the order in which it was stored, so the lowest count is no sample: it is exact.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Lock, Thread
from typing import Any, Self

import urllib3

from evenkeel.ports import Clock
from evenkeel_sandbox.observer.following import follow, is_released
from evenkeel_sandbox.observer.serving import Serving
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    is_leaving,
    is_ready,
    labels_of,
    node_of,
    uid_of,
)
from tests.kit.control_plane import ControlPlane


@dataclass(slots=True, kw_only=True)
class Count(Serving):
    """The ready pods that a workload's own selector matches: how many, and the fewest ever."""

    selector: Mapping[str, str]

    def see_pod(self, pod: Obj, *, gone: bool = False) -> None:
        serves = not gone and is_ready(pod) and not is_leaving(pod)
        self.see(uid_of(pod), node_of(pod), serves=serves and _matches(pod, self.selector))


@dataclass(slots=True)
class Departure:
    """A pod that was told to go, and when the witness saw it."""

    pod: Obj
    at: datetime


@dataclass(slots=True)
class _Seen:
    pods: dict[str, Obj] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)
    departures: dict[str, Departure] = field(default_factory=dict)
    ever: dict[str, Obj] = field(default_factory=dict)
    was_released: set[str] = field(default_factory=set)
    ready_at: dict[str, datetime] = field(default_factory=dict)


class Witness:
    """Follows the pods of a namespace from its beginning to ``close``."""

    def __init__(self, control_plane: ControlPlane, namespace: str, clock: Clock) -> None:
        self._control_plane = control_plane
        self._path = f"api/v1/namespaces/{namespace}/pods"
        self._clock = clock
        self._seen = _Seen()
        self._lock = Lock()
        self._stopping = Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._error: BaseException | None = None
        version = self._list()["metadata"]["resourceVersion"]
        self._thread = Thread(target=self._run, args=(version,), name="witness", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop following."""
        self._stopping.set()
        with self._lock:
            if self._response is not None:
                with contextlib.suppress(RuntimeError, ValueError, OSError):
                    self._response.shutdown()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def count(self, workload: str, selector: Mapping[str, str]) -> int:
        """Count this workload from now on; how many of its pods are ready now."""
        self.catch_up()
        with self._lock:
            count = self._seen.counts[workload] = Count(selector=dict(selector))
            for pod in self._seen.pods.values():
                count.see_pod(pod)
            count.begin()
            return count.ready

    def lowest(self, workload: str) -> int:
        """The fewest ready pods that the workload had since it is counted."""
        self.catch_up()
        return self._seen.counts[workload].lowest

    def ready(self, workload: str) -> int:
        """How many ready pods the workload has."""
        self.catch_up()
        return self._seen.counts[workload].ready

    def pods(self, **labels: str) -> Sequence[Obj]:
        """The pods that are there and were not told to go, by their labels."""
        self.catch_up()
        with self._lock:
            pods = list(self._seen.pods.values())
        return [pod for pod in pods if not is_leaving(pod) and _matches(pod, labels)]

    def departures(self, **labels: str) -> Sequence[Departure]:
        """The pods with these labels that were told to go, in the order in which they were."""
        self.catch_up()
        with self._lock:
            departures = list(self._seen.departures.values())
        return [departure for departure in departures if _matches(departure.pod, labels)]

    def ready_at(self, pod: Obj) -> datetime:
        """When a pod was seen to be Ready first."""
        self.catch_up()
        with self._lock:
            return self._seen.ready_at[uid_of(pod)]

    def ever_released(self, **labels: str) -> Sequence[Obj]:
        """The pods with these labels that bore Evenkeel's label at any time, as last seen."""
        self.catch_up()
        with self._lock:
            pods = [self._seen.ever[uid] for uid in self._seen.was_released]
        return [pod for pod in pods if _matches(pod, labels)]

    def catch_up(self) -> None:
        """Wait until all was seen that a list shows now."""
        listed = self._list()
        shown = {uid_of(pod): _version(pod) for pod in listed["items"]}
        version = _version(listed)

        def is_level() -> bool:
            if self._error is not None:
                raise AssertionError("the witness is blind") from self._error
            with self._lock:
                ever, now = self._seen.ever, self._seen.pods
                return all(
                    uid in ever and _version(ever[uid]) >= each for uid, each in shown.items()
                ) and all(uid in shown or _version(pod) > version for uid, pod in now.items())

        self._control_plane.wait_for("the witness to see what is listed", is_level)

    def _list(self) -> Any:
        return self._control_plane.request("GET", self._path)

    def _run(self, version: str) -> None:
        try:
            for change in follow(self._watch, self._path, version, self._stopping):
                self._take(change.object, gone=change.gone)
        except Exception as error:  # noqa: BLE001 - raised again where the witness is asked
            if not self._stopping.is_set():
                self._error = error

    @contextlib.contextmanager
    def _watch(self, path: str) -> Iterator[urllib3.BaseHTTPResponse]:
        with self._control_plane.stream(path) as response:
            with self._lock:
                self._response = response
                if self._stopping.is_set():
                    response.close()
            yield response

    def _take(self, pod: Obj, *, gone: bool) -> None:
        uid = uid_of(pod)
        with self._lock:
            seen = self._seen
            seen.ever[uid] = pod
            if is_ready(pod):
                seen.ready_at.setdefault(uid, self._clock.now())
            if is_released(pod):
                seen.was_released.add(uid)
            # A pod that never ran may vanish without ever having been seen to leave.
            if (gone or is_leaving(pod)) and uid not in seen.departures:
                seen.departures[uid] = Departure(pod, self._clock.now())
            if gone:
                seen.pods.pop(uid, None)
            else:
                seen.pods[uid] = pod
            for count in seen.counts.values():
                count.see_pod(pod, gone=gone)
                count.look()


def _matches(pod: Obj, labels: Mapping[str, str]) -> bool:
    return labels.items() <= labels_of(pod).items()


def _version(obj: Obj) -> int:
    """When an object, or a list, was as it is: of two the larger is the later one."""
    return int(obj["metadata"]["resourceVersion"])
