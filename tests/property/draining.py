"""Drainers in a scene, and the gate in front of their evictions."""

from collections.abc import Iterable
from datetime import timedelta

from evenkeel.model import names
from evenkeel.settings import GateSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.webhooks import Answer, Webhook
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.drainer import Asking, Drainer
from tests.kit.reviews import TOKEN, answering
from tests.property.hands import Cause, Hands

REPLACED = "ReplacementAvailable"
"""The reason of an eviction that must not take a pod too many; others may, as without the gate."""


class Draining:
    """Drains nodes through the gate. What that lets pass as replaced is Evenkeel's deed."""

    def __init__(
        self, cluster: SimulatedCluster, hands: Hands, recorder: InMemoryRecorder, window: int
    ) -> None:
        self._cluster = cluster
        self._hands = hands
        self._recorder = recorder
        gate = answering(recorder, GateSettings(mode=Mode.ACT, window=window))
        self._gate = HandlerWebhook(cluster, TOKEN, gate, name="evictions")
        self._drainers: list[_Judged] = []

    def begin(self, namespaces: Iterable[str]) -> None:
        """The evictions of these namespaces are gated from now on."""
        for name in namespaces:
            labels = {"metadata": {"labels": {names.GATE: "true"}}}
            self._cluster.server.patch("Namespace", ("", name), labels)
        self._cluster.ask(Webhook.gate(self._ask))

    def drain(self, node: str, username: str) -> None:
        """Somebody begins to drain a node."""
        drainer = _Judged(self._cluster, self._hands, username)
        drainer.drain(node)
        self._drainers.append(drainer)

    def break_down(self, seconds: float) -> None:
        """The gate does not answer for a while, and knows nothing then of what it did."""
        self._gate.down = True
        self._cluster.clock.call_in(timedelta(seconds=seconds), self._restart)

    def kill_drainers(self) -> None:
        """All drainers die."""
        for drainer in self._drainers:
            drainer.kill()

    @property
    def pods(self) -> dict[str, Asking]:
        """The evictions that were asked for, by the name of the pod."""
        return {name: each for drainer in self._drainers for name, each in drainer.pods.items()}

    def _restart(self) -> None:
        self._gate.down = False
        self._gate.restart()

    def _ask(self, review: bytes) -> Answer:
        """Answer a review. If the pod is let go as replaced, that is on Evenkeel's account."""
        self._hands.cause = Cause.OTHERS
        told = len(self._recorder.decisions)
        answer = self._gate(review)
        if any(each.reason == REPLACED for each in self._recorder.decisions[told:]):
            self._hands.cause = Cause.EVENKEEL
        return answer


class _Judged(Drainer):
    """A drainer whose evictions are on its own account, but where the gate says otherwise."""

    def __init__(self, cluster: SimulatedCluster, hands: Hands, username: str) -> None:
        super().__init__(cluster.clock, cluster, username)
        self._hands = hands

    def _evict(self, name: str, namespace: str) -> None:
        with self._hands.on_account_of(Cause.OTHERS):
            super()._evict(name, namespace)


def waited_too_long(pods: dict[str, Asking], most: timedelta) -> list[str]:
    """The pods whose eviction was held up for longer."""
    return [
        f"{name} waited {asking.deferred.total_seconds():.0f} s"
        for name, asking in pods.items()
        if asking.deferred > most
    ]
