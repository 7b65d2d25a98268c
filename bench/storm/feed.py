"""Which notices are sent, in which order and when."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from typing import Final

from bench.storm import aws
from bench.storm.aws import Aws

BATCH: Final = 10


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A notice of this instance, so many seconds after the first one."""

    after: float
    instance_id: str


def evenly(instance_ids: Sequence[str], spread: float) -> Sequence[Dispatch]:
    """Their notices in this order, at once or spread evenly over so many seconds."""
    step = spread / max(1, len(instance_ids) - 1)
    return [Dispatch(number * step, each) for number, each in enumerate(instance_ids)]


class Feed:
    """Sends notices as planned.

    ``noticed`` is when each node's first one was sent, in seconds since 1970; ``sent`` are the
    ids of all messages.
    """

    def __init__(self, stand_in: Aws, plan: Sequence[Dispatch], nodes: Mapping[str, str]) -> None:
        """``nodes`` by instance; other instances have none here."""
        self._aws = stand_in
        self._plan = plan
        self._nodes = nodes
        self.noticed: dict[str, float] = {}
        self.sent: list[str] = []

    def run(self) -> None:
        """Send them all: what is due at the same time ten at a time, else one by one."""
        began = time.monotonic()
        is_burst = all(each.after == 0 for each in self._plan)
        number = 0
        for some in batched(self._plan, BATCH if is_burst else 1, strict=False):
            _sleep_until(began + some[0].after)
            now = datetime.now(UTC)  # noqa: TID251 - a feeder's own clock
            bodies = [aws.warning(each.instance_id, now, number + n) for n, each in enumerate(some)]
            self.sent += self._aws.send(bodies)
            number += len(some)
            for each in some:
                if each.instance_id in self._nodes:
                    self.noticed.setdefault(self._nodes[each.instance_id], now.timestamp())


def _sleep_until(when: float) -> None:
    left = when - time.monotonic()
    if left > 0:
        time.sleep(left)  # noqa: TID251 - a feeder's own clock
