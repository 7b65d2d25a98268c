"""A simulated cluster whose API server asks the gate, with the reconciler beside it."""

from datetime import timedelta
from typing import Any

from evenkeel.model import names
from evenkeel.settings import GateSettings, Mode
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.drainer import Drainer
from tests.kit.manifests import resource
from tests.kit.reviews import TOKEN, answering
from tests.kit.scene import Scene


class Gated(Scene):
    """A scene in which evictions of the namespace ``default`` are gated."""

    def __init__(self, mode: Mode = Mode.ACT, **settings: Any) -> None:
        super().__init__()
        self.settings = GateSettings(**{"mode": mode, **settings})
        handler = answering(self.recorder, self.settings)
        self.gate = HandlerWebhook(self.cluster, TOKEN, handler, name="evictions")
        self.apply(resource("Namespace", "default", labels={names.GATE: "true"}))

    def begin(self) -> None:
        super().begin()
        self.cluster.ask(Webhook.gate(self.gate))

    def drainer(self, username: str = "drainer") -> Drainer:
        """Somebody who drains nodes."""
        return Drainer(self.clock, self.cluster, username)

    def drain(self, node: str, *, within: float) -> float:
        """Let somebody drain a node to the end; how many seconds that takes."""
        drainer = self.drainer()
        drainer.drain(node)
        return self.finish(drainer, within=within)

    def finish(self, *drainers: Drainer, within: float) -> float:
        """Let time pass until these have ended; how many seconds that takes."""
        began = self.seconds
        while not all(drainer.is_done for drainer in drainers):
            assert self.seconds - began < within, "a drain does not end"
            self.clock.advance(timedelta(seconds=0.5))
        return self.seconds - began
