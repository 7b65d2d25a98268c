"""A scene with restore's schedule and the webhook beside the handover function."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any

from evenkeel.handlers import Handler, restore
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.decision import Decision
from evenkeel.model.request import Create, Delete, Evict, Patch, Request
from evenkeel.settings import Mode, RestoreSettings
from evenkeel_sandbox.application import Environments
from evenkeel_sandbox.simulator.api.webhooks import MANAGED, Webhook
from evenkeel_sandbox.simulator.event_source import SimulatedSchedule
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.manifests import resource
from tests.kit.reviews import TOKEN, answering
from tests.kit.scene import CALM, CLUSTER, Scene

EVERY = timedelta(minutes=1)


class RestoreScene(Scene):
    """A scene whose namespace ``default`` is managed; ``webhook`` may be set down.

    ``end_webhook``: the API server asks none any more.

    Restore comes once a minute from ``begin`` on.
    """

    def __init__(
        self,
        mode: Mode = Mode.ACT,
        options: SimulatorOptions = CALM,
        every: timedelta = EVERY,
        *,
        steady: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(mode, options, steady=steady)
        self._restore_settings = settings
        self._every = every
        labels = settings.get("capacity_labels", WELL_KNOWN)
        everywhere = settings.get("everywhere", False)
        self.answers = answering(
            self.recorder,
            labels=labels,
            everywhere=everywhere,
            defaults_required=settings.get("defaults_required", False),
        )
        self.webhook = HandlerWebhook(self.cluster, TOKEN, self.answers)
        self.start_webhook(namespaces={} if everywhere else MANAGED)
        self.manage("default")

    def start_webhook(self, **entry: Any) -> None:
        """The API server asks the webhook; ``entry`` is what its configuration says otherwise."""
        self.end_webhook = self.cluster.ask(Webhook(self.webhook, **entry))

    def die_after(self, number: int) -> Callable[[], int]:
        """Let restore die after so many of its writes; 0: never. Answers how many there were."""
        written = 0

        def count(request: Request, proceed: Callable[[], Any]) -> Any:
            nonlocal written
            answer = proceed()
            running = self.restoring.running
            if running and isinstance(request, Patch | Create | Delete | Evict):
                written += 1
                if written == number:
                    for process in running:
                        process.kill()
            return answer

        self.cluster.intercept(count)
        return lambda: written

    def manage(self, namespace: str, **notes: str) -> None:
        """Let a namespace take part; ``notes`` are its annotations."""
        self.apply(resource("Namespace", namespace, labels={names.MANAGED: "true"}, notes=notes))

    def add_nodes(self, prefix: str, count: int, *, spot: bool, room: str = "") -> None:
        """Add several nodes, ``<prefix>0`` and so on."""
        for number in range(count):
            self.add_node(f"{prefix}{number}", spot=spot, room=room)

    def remove_nodes(self, prefix: str) -> None:
        """Take nodes away at once, without a word."""
        for obj in self.cluster.objects("Node"):
            name = obj["metadata"]["name"]
            if name.startswith(prefix):
                self.cluster.kill_node(name, timedelta())

    def begin(self) -> None:
        restoring = Environments(self._restore)
        self.restoring = SimulatedSchedule(self.clock, restoring, every=self._every)
        super().begin()
        self.environments = (*self.environments, restoring)

    def split(self, app: str) -> Mapping[str, int]:
        """How many live pods of a workload are on which capacity type, or on none."""
        spot = {
            obj["metadata"]["name"]: obj["metadata"]["labels"]["karpenter.sh/capacity-type"]
            for obj in self.cluster.objects("Node")
        }
        return Counter(spot.get(pod.spec.node_name, "none") for pod in self.pods(app) if pod.active)

    def made(self, app: str) -> Collection[str]:
        """The uids of a workload's pods, those that are there and all that come."""
        uids: set[str] = set()

        def look() -> None:
            uids.update(pod.uid for pod in self.pods(app))
            self.later(self.seconds + 1, look)

        look()
        return uids

    def moves(self, app: str = "") -> list[Decision]:
        """Restore's moves that were begun."""
        return [
            decision
            for _, decision in self.told()
            if decision.reason in ("AboveFloor", "FloorMissing")
            and decision.workload is not None
            and decision.write is not None
            and app in ("", decision.workload.name)
        ]

    def _restore(self) -> Handler:
        settings = RestoreSettings(mode=self._mode, cluster_name=CLUSTER, **self._restore_settings)
        return restore.build(settings, self.cluster, self.wake_ups, self.own_clock, self.recorder)
