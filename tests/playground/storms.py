"""Storms on a control plane: spot nodes, whose instances moto plays, are interrupted."""

# ruff: noqa: T201 - it says what it does

import json
import time
from collections.abc import Mapping, Sequence
from typing import Final

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.kit.control_plane import ControlPlane
from tests.kit.moto_server import Aws

WARNING: Final = 120.0
"""Seconds from EC2's warning until it takes the instance."""

TYPE: Final = {names.INSTANCE_TYPE: "m6i.16xlarge"}

COMING: Final = 20.0
"""Seconds until new nodes stand for those that are interrupted."""


def warning(instance_id: str) -> Mapping[str, str]:
    """An interruption warning, as PutEvents takes it."""
    detail = {"instance-id": instance_id, "instance-action": "terminate"}
    kind = "EC2 Spot Instance Interruption Warning"
    return {"Source": "aws.ec2", "DetailType": kind, "Detail": json.dumps(detail)}


class Storms:
    """The spot nodes of a cluster, and what becomes of them."""

    def __init__(self, plane: ControlPlane, aws: Aws) -> None:
        """There are no spot nodes yet."""
        self._plane = plane
        self._aws = aws
        self._clock = SystemClock()
        self._nodes: dict[str, str] = {}

    @property
    def latest(self) -> str:
        """The instance that would be interrupted last."""
        return [*self._nodes][-1]

    def add_nodes(self, count: int) -> None:
        """Run so many spot instances, each with a node of its name."""
        made = self._aws.nodes(count)
        for instance, name in made.items():
            provider_id = f"aws:///eu-central-1a/{instance}"
            self._plane.add_node(
                name, spot=True, provider_id=provider_id, labels=TYPE, cpu="64", pods=200
            )
        self._nodes |= made

    def play(self, every: float) -> None:
        """One storm after the other, so many seconds apart, without end: the older half goes."""
        while True:
            time.sleep(every)  # noqa: TID251 - a real cluster has its own clock
            self.take([*self._nodes][: len(self._nodes) // 2])

    def take(self, instances: Sequence[str]) -> None:
        """Warn of the end of these instances, and end them two minutes later."""
        now = self._clock.now()
        going = {each: self._nodes.pop(each) for each in instances}
        self._aws.put([warning(each) for each in instances])
        print(f"{now:%H:%M:%S}  interrupted: {', '.join(going.values())}", flush=True)
        time.sleep(COMING)  # noqa: TID251 - as above
        self.add_nodes(len(going))
        time.sleep(WARNING - COMING)  # noqa: TID251 - as above
        self._aws.terminate(instances)
        for name in going.values():
            self._plane.delete_node(name)
        print(f"{self._clock.now():%H:%M:%S}  gone, and as many new ones have come", flush=True)
