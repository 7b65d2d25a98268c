"""A cluster whose controllers make pods, which the real handler reviews."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from evenkeel.model import names
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.reviews import TOKEN, answering
from tests.stories.placement.scene import NAMESPACE, namespace

KEY = "eks.amazonaws.com/capacityType"


class Controlled:
    """Spot and on-demand nodes, a managed namespace, and the webhook at work."""

    def __init__(self, controller_qps: float | None = 20.0) -> None:
        self.clock = SimulatedClock()
        options = SimulatorOptions(controller_qps=controller_qps)
        self.cluster = SimulatedCluster(self.clock, options)
        self.recorder = InMemoryRecorder()
        for kind in ("SPOT", "ON_DEMAND"):
            for number in range(3):
                metadata = {"name": f"{kind}-{number}".lower(), "labels": {KEY: kind}}
                self.cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        self.cluster.apply(namespace(NAMESPACE, managed=True))
        self.webhook = HandlerWebhook(self.cluster, TOKEN, answering(self.recorder))
        self.end = self.cluster.ask(Webhook(self.webhook))

    def settle(self, seconds: float = 30.0) -> None:
        self.clock.advance(timedelta(seconds=seconds))

    def pods(self) -> list[dict[str, Any]]:
        return [
            each
            for each in self.cluster.objects("Pod", NAMESPACE)
            if not each["metadata"].get("deletionTimestamp")
        ]

    def landed(self) -> Mapping[str, int]:
        """How many pods run on nodes of which capacity type."""
        return Counter(each["spec"]["nodeName"].rpartition("-")[0] for each in self.pods())

    def told(self) -> Mapping[str, int]:
        """How many pods were told to go where."""
        return Counter(
            each["metadata"]["labels"].get(names.CAPACITY, "nowhere") for each in self.pods()
        )
