"""What every part of the simulated cluster shares."""

import random
from dataclasses import dataclass, field
from datetime import datetime

from evenkeel.errors import AlreadyExistsError
from evenkeel_sandbox.simulator.api.objects import Key, Obj, key_of, stamp, uid_of
from evenkeel_sandbox.simulator.api.server import ApiServer
from evenkeel_sandbox.simulator.api.store import Store
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.options import SimulatorOptions


@dataclass
class World:
    """The clock, the API server with its store, the options, and chance."""

    clock: SimulatedClock
    server: ApiServer
    options: SimulatorOptions
    rng: random.Random
    _events: dict[tuple[str, str, str], Key] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The objects."""
        return self.server.store

    def now(self) -> datetime:
        """The time."""
        return self.clock.now()

    def record(self, about: Obj, reason: str, message: str, *, warning: bool = True) -> None:
        """Make a Kubernetes Event about an object, or count one more of the same."""
        now = stamp(self.now())
        same = (uid_of(about), reason, message)
        known = self._events.get(same)
        if known is not None and (event := self.store.get("Event", known)) is not None:
            count = event["count"] + 1
            self.store.write({**event, "count": count, "lastTimestamp": now})
            return
        namespace, name = key_of(about)
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "namespace": namespace or "default",
                "name": f"{name}.{len(self._events):016x}",
            },
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "namespace": namespace,
                "name": name,
                "uid": uid_of(about),
            },
            "reason": reason,
            "message": message,
            "type": "Warning" if warning else "Normal",
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
        try:
            self._events[same] = key_of(self.server.create(event))
        except AlreadyExistsError:
            return
