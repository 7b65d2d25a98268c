"""A simulated cluster whose API server asks the gate, with the reconciler beside it."""

from datetime import timedelta
from typing import Any

from evenkeel.handlers import Handler, placement
from evenkeel.model import names
from evenkeel.ports import Clock, Cluster
from evenkeel.settings import GateSettings, Mode, PlacementSettings
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.drainer import Drainer
from tests.kit.manifests import resource
from tests.kit.scene import CALM, Scene

TOKEN = "0123456789abcdef" * 4


class Gated:
    """A scene in which evictions of the namespace ``default`` are gated."""

    def __init__(self, mode: Mode = Mode.ACT, **settings: Any) -> None:
        self.scene = scene = Scene(options=CALM)
        self.settings = GateSettings(**{"mode": mode, **settings})
        self.gate = HandlerWebhook(scene.cluster, TOKEN, self._handler, name="evictions")
        scene.apply(resource("Namespace", "default", labels={names.GATE: "true"}))

    def begin(self, *nodes: str) -> None:
        """The workloads were applied and settle; these nodes come, and the story begins."""
        self.scene.settle()
        for node in nodes:
            self.scene.add_node(node, spot=False)
        self.scene.begin()
        self.scene.cluster.ask(Webhook.gate(self.gate))

    def drainer(self, username: str = "drainer") -> Drainer:
        """Somebody who drains nodes."""
        return Drainer(self.scene.clock, self.scene.cluster, username)

    def finish(self, *drainers: Drainer, within: float) -> float:
        """Let time pass until these have ended; how many seconds that takes."""
        began = self.scene.seconds
        while not all(drainer.is_done for drainer in drainers):
            assert self.scene.seconds - began < within, "a drain does not end"
            self.scene.clock.advance(timedelta(seconds=0.5))
        return self.scene.seconds - began

    def _handler(self, cluster: Cluster, clock: Clock) -> Handler:
        placing = PlacementSettings(mode=Mode.ACT, cluster_name="scene", tokens=(TOKEN,))
        return placement.build(placing, self.settings, cluster, clock, self.scene.recorder)
