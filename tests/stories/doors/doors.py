"""The ways by which somebody has pods leave: the gate, an EvictionRequest, a notice."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Protocol

from evenkeel.errors import ClusterError
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.model import names
from evenkeel.model.times import in_words
from evenkeel.settings import GateSettings, Mode
from evenkeel_cli.cancelling import cancel
from evenkeel_responder.eviction import NAME
from evenkeel_responder.naming import PRIORITY
from evenkeel_responder.responder import Responder
from evenkeel_responder.responding import Responding
from evenkeel_sandbox.simulator.api.eviction import evict
from evenkeel_sandbox.simulator.api.webhooks import Client, Webhook
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.drainer import Drainer
from tests.kit.eviction_requests import API, Controllers, Operations, eviction_request
from tests.kit.manifests import Manifest, resource
from tests.kit.reviews import TOKEN, answering
from tests.kit.scene import Scene

NAMING = {"evictionResponders": [{"name": NAME, "priority": PRIORITY}]}
"""What the template of a pod says that names Evenkeel."""

NODE = "s1"


class Door(Protocol):
    """One of them, in a scene of its own."""

    @property
    def scene(self) -> Scene:
        """The scene."""
        ...

    def ask(self) -> None:
        """Somebody has all pods of the node ``NODE`` leave."""
        ...

    def withdraw(self) -> None:
        """Who asked does so no longer."""
        ...


class _Gated(Scene):
    """A scene with a gated namespace."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = GateSettings(mode=Mode.ACT)
        self.apply(resource("Namespace", "default", labels={names.GATE: "true"}))

    def ask_the_gate(self) -> None:
        """Have the API server ask the webhook about evictions."""
        handler = answering(self.recorder, self.settings)
        gate = HandlerWebhook(self.cluster, TOKEN, handler, name="evictions")
        self.cluster.ask(Webhook.gate(gate))


class Gate:
    """Somebody drains the node, through the webhook."""

    def __init__(self) -> None:
        self.scene = _Gated()
        self.scene.ask_the_gate()
        self._drainer = Drainer(self.scene.clock, self.scene.cluster)

    def ask(self) -> None:
        self._drainer.drain(NODE)

    def withdraw(self) -> None:
        self._drainer.kill()


class Notice:
    """EC2 takes the node; or it said so by mistake, and a person cancels that."""

    def __init__(self) -> None:
        self.scene = Scene()

    def ask(self) -> None:
        self.scene.interrupt(NODE, carried_out=False)

    def withdraw(self) -> None:
        cancel(self.scene.cluster, NODE, self.scene.recorder, act=True)


class _Server:
    """The simulated API server, as the controllers of EvictionRequests need it."""

    def __init__(self, scene: Scene) -> None:
        self._cluster = scene.cluster

    def requests(self) -> Sequence[Manifest]:
        return self._cluster.objects("EvictionRequest")

    def evictions(self) -> Sequence[Manifest]:
        return self._cluster.objects("Eviction")

    def pods(self) -> Sequence[Manifest]:
        return self._cluster.objects("Pod", "default")

    def create(self, manifest: Manifest) -> None:
        self._cluster.apply(manifest)

    def patch_status(self, eviction: str, operations: Operations) -> None:
        self._cluster.server.patch("Eviction", ("default", eviction), operations, "status")

    def evict(self, name: str, uid: str) -> None:
        try:
            evict(self._cluster.server, ("default", name), uid, Client("evictor"))
        except ClusterError:
            return


class EvictionRequests:
    """Somebody makes an EvictionRequest for each pod. No webhook is in the way."""

    def __init__(self) -> None:
        self.scene = scene = _Gated()
        cluster, clock, recorder = scene.cluster, scene.clock, scene.recorder
        flow = GateFlow(scene.settings, cluster, clock, recorder)
        responder = Responder(flow, cluster, clock, recorder)
        # On simulated time one waits for another that has a lock: for ever.
        self._responding = Responding(responder, clock, recorder, at_once=1)
        self._controllers = Controllers(_Server(scene), clock)

    def ask(self) -> None:
        """The one who asks keeps the node empty, as a drainer does."""
        scene = self.scene
        scene.clock.start(self._respond)
        scene.clock.start(self._control)
        scene.cluster.server.patch("Node", ("", NODE), {"spec": {"unschedulable": True}})
        for pod in scene.cluster.objects("Pod", "default"):
            if pod["spec"].get("nodeName") == NODE:
                scene.apply(eviction_request(pod))

    def withdraw(self) -> None:
        for each in self.scene.cluster.objects("EvictionRequest", "default"):
            key = "default", each["metadata"]["name"]
            withdrawn = {"spec": {"intent": "Withdrawn"}}
            self.scene.cluster.server.patch("EvictionRequest", key, withdrawn)

    def stray(self, name: str, uid: str) -> None:
        """Kubernetes asks Evenkeel about a pod of this name with another uid."""
        eviction = {
            "apiVersion": API,
            "kind": "Eviction",
            "metadata": {"name": "stray", "namespace": "default", "labels": {NAME: "responder"}},
            "spec": {"target": {"pod": {"name": name, "uid": uid}}},
        }
        self.scene.apply(eviction)
        start = in_words(self.scene.clock.now())
        status = {
            "targetResponders": [{"name": NAME, "priority": PRIORITY, "state": "Active"}],
            "responders": [{"name": NAME, "startTime": start}],
        }
        self.scene.cluster.server.set_status("Eviction", ("default", "stray"), status)

    def told(self) -> list[dict[str, Any]]:
        """What Evenkeel has said in each Eviction."""
        found = self.scene.cluster.objects("Eviction", "default")
        return [each["status"]["responders"][0] for each in found]

    def _respond(self) -> None:
        with self.scene.cluster.session() as session:
            self._responding.begin(session)
            while True:
                self._responding.turn(session)

    def _control(self) -> None:
        while True:
            self._controllers.turn()
            self.scene.clock.sleep(timedelta(seconds=0.1))
