"""The ways side by side.

One workload of ten replicas, of which two belong on on-demand, by each way to say so, on 8 spot
and 2 on-demand nodes with room for all. Pods take 2 s to start. Spot nodes go at once, without a
notice, and `evenkeel restore --apply` runs when spot is back, where Evenkeel is part of the way.
A situation is over when all pods are Ready, or after 45 s, without spot after 110 s.
"""

import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Final

from bench.conditions import ROOT
from bench.figure import Figure
from bench.lab import webhook as webhooks
from bench.lab.beside import observed
from bench.lab.lab import Lab
from bench.lab.sights import fewest
from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from evenkeel_sandbox.simulator.api.objects import is_ready
from tests.e2e.manifests import deployment, selector
from tests.e2e.placement.webhook import EVENKEEL, Ground
from tests.e2e.scheduling.scheduler import (
    answering,
    asking,
    extender_applied,
    profile_applied,
    running,
)
from tests.kit.control_plane import ControlPlane, Options
from tests.kit.manifests import Manifest

NOTES: Final = """\
- Wanted on on-demand: 2 of 10 at rest, 2 of 30 in a burst, 2 of 5 scaled in, 2 of 10 in a
  rollout, 10 of 10 with spot gone, 2 of 10 with spot back.
"""
REPLICAS, FLOOR, BURST, SCALED = 10, 2, 30, 5
SPOT, ON_DEMAND = 8, 2
"""As many nodes as replicas: a ReplicaSet scales in those first that share one."""
LABEL: Final = "eks.amazonaws.com/capacityType"
FLOORED: Final[Mapping[str, str]] = {names.ON_DEMAND: str(FLOOR)}
TIMES: Final[Mapping[str, Any]] = {"start": "2s", "stop": "1s"}
APP: Final = "shop"
LONGEST, COLLECTING = 45.0, 110.0
"""Seconds until a situation is over at the latest; the second where the controller manager has to
find pods of nodes that are gone."""
RESTORING: Final = 180.0
RUNS: Final = 3
"""So many runs of restore at most."""
EVERY: Final = 0.2


@dataclass(frozen=True, slots=True)
class Way:
    """``manifests`` makes the Deployments of a workload of this name; the last one is scaled.

    ``running`` is what has to run for it. Where it ``is_restored`` Evenkeel's restore is part.
    """

    manifests: Callable[[str], Sequence[Manifest]]
    running: Callable[[Ground], AbstractContextManager[None]] = lambda _: nullcontext()
    is_restored: bool = False


def two_deployments(name: str) -> Sequence[Manifest]:
    """One of the floor's size that requires on-demand, and one of the others that prefers spot."""
    on_demand = {"nodeSelector": {LABEL: "ON_DEMAND"}}
    return [
        deployment(f"{name}-on-demand", FLOOR, **on_demand, **TIMES),
        deployment(f"{name}-spot", REPLICAS - FLOOR, affinity=rather_spot(), **TIMES),
    ]


def spread(name: str) -> Sequence[Manifest]:
    """Of n pods at least (n - maxSkew) / 2 are on on-demand; spot is preferred.

    A template with a spread of its own loses the scheduler's default one over nodes, so it names
    that too. Without it pods share nodes.
    """
    selected = {"labelSelector": {"matchLabels": dict(selector(name))}}
    over_nodes = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
    }
    constraint = {
        "maxSkew": REPLICAS - 2 * FLOOR,
        "minDomains": 2,
        "topologyKey": LABEL,
        "whenUnsatisfiable": "DoNotSchedule",
        "matchLabelKeys": ["pod-template-hash"],
    }
    made = deployment(
        name,
        REPLICAS,
        topologySpreadConstraints=[constraint | selected, over_nodes | selected],
        affinity=rather_spot(),
        **TIMES,
    )
    return [made]


def rather_spot() -> Manifest:
    """The affinity of a pod that prefers spot."""
    clause = {"key": LABEL, "operator": "In", "values": ["SPOT"]}
    preference = {"weight": 100, "preference": {"matchExpressions": [clause]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}


def floored(name: str) -> Sequence[Manifest]:
    """A Deployment with Evenkeel's annotation."""
    return [deployment(name, REPLICAS, annotations=FLOORED, **TIMES)]


def scheduled(name: str) -> Sequence[Manifest]:
    """The same for the scheduler of manifests/scheduler."""
    return [deployment(name, REPLICAS, annotations=FLOORED, schedulerName=PROFILE, **TIMES)]


@contextmanager
def webhook(ground: Ground) -> Iterator[None]:
    """``evenkeel serve``, asked by the API server."""
    ground.serve()
    yield


@contextmanager
def extender(ground: Ground) -> Iterator[None]:
    """A second scheduler that asks ``evenkeel serve --extender``; no webhook."""
    ground.control_plane.kubectl("apply", "-k", str(ROOT / "manifests" / "rbac"))
    with (
        extender_applied(ground),
        running(ground.control_plane, asking(ground, answering(ground)), ground.folder),
    ):
        yield


@contextmanager
def profile(ground: Ground) -> Iterator[None]:
    """A second scheduler that asks nobody."""
    with (
        profile_applied(ground.control_plane) as config,
        running(ground.control_plane, config, ground.folder),
    ):
        yield


WAYS: Final[Mapping[str, Way]] = {
    "two Deployments": Way(two_deployments),
    "spread and affinity": Way(spread),
    "webhook": Way(floored, webhook, is_restored=True),
    "extender": Way(scheduled, extender, is_restored=True),
    "profile alone": Way(scheduled, profile, is_restored=True),
}
SIZES: Final = tuple(WAYS)


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One way in each situation, one after the other."""
    way = WAYS[size]
    options = Options(unlimited=True, durable=True)
    with (
        ControlPlane.launch(options) as control_plane,
        control_plane.namespace() as namespace,
        webhooks.ground(control_plane, namespace) as ground,
    ):
        ground.add_nodes(spot=SPOT, on_demand=ON_DEMAND)
        with way.running(ground):
            site = Site(ground, way, lab)
            figures: list[Figure] = []
            for name, act, replicas in (
                ("at rest", lambda: time.sleep(3), REPLICAS),  # noqa: TID251 - a real cluster's
                ("burst", lambda: site.scale(BURST), BURST),
                ("scaled in", lambda: site.scale(SCALED), SCALED),
                ("rollout", site.roll_out, REPLICAS),
            ):
                with site.workload():
                    figures += site.stood(name, act, replicas)
            with site.workload():
                figures += site.stood("spot gone", site.lose_spot, REPLICAS, COLLECTING)
                figures += site.stood("spot back", site.give_spot_back, REPLICAS)
    return [*figures, Figure("objects of its owner", len(way.manifests(APP)))]


class Site:
    """The nodes, and a workload by one way."""

    def __init__(self, ground: Ground, way: Way, lab: Lab) -> None:
        """No workload is there yet; the nodes are."""
        self.ground = ground
        self.way = way
        self._lab = lab
        self._on_demand = {name for name in self._nodes() if "-demand-" in name}

    @contextmanager
    def workload(self) -> Iterator[None]:
        """A fresh one, at rest; afterwards nothing of it is left."""
        made = self.way.manifests(APP)
        for manifest in made:
            self.ground.apply(manifest)
        self.settle(REPLICAS, 60.0)
        try:
            yield
        finally:
            for manifest in made:
                name, namespace = manifest["metadata"]["name"], self.ground.namespace
                self.ground.control_plane.delete("apps/v1", "Deployment", name, namespace)
            self.ground.wait_for("no pods to be left", lambda: not self._items("v1", "Pod"))

    def stood(
        self, name: str, act: Callable[[], object], replicas: int, longest: float = LONGEST
    ) -> Sequence[Figure]:
        """What becomes of the workload in a situation."""
        with observed(self.ground.control_plane, self.ground.namespace) as seen:
            since = time.time()  # noqa: TID251 - the observer's clock
            act()
            self.settle(replicas, longest)
            time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
            pods = [pod for pod in self.ground.pods() if is_ready(pod)]
            on_demand = [pod for pod in pods if pod["spec"]["nodeName"] in self._on_demand]
            pending = sum(not pod["spec"].get("nodeName") for pod in self.ground.pods())
        apps = {sight.app for sight in seen.sights if sight.app}
        lowest = sum(fewest(seen.sights, apps, since, on=self._on_demand).values())
        found = [
            Figure(f"{name}: on on-demand", len(on_demand)),
            Figure(f"{name}: fewest there", lowest),
            *([Figure(f"{name}: Pending", pending)] if pending else []),
        ]
        self._lab.say(", ".join(f"{each.name} {each.value}" for each in found))
        return found

    def scale(self, replicas: int) -> None:
        """Set the workload's size: that of the last Deployment, the others keep theirs."""
        *others, last = self.way.manifests(APP)
        rest = sum(each["spec"]["replicas"] for each in others)
        self.ground.scale("Deployment", last["metadata"]["name"], replicas - rest)

    def roll_out(self) -> None:
        """A new version of all Deployments."""
        template = {"metadata": {"annotations": {"version": "2"}}}
        for each in self.way.manifests(APP):
            self.ground.control_plane.merge(
                "apps/v1",
                "Deployment",
                each["metadata"]["name"],
                {"spec": {"template": template}},
                self.ground.namespace,
            )

    def lose_spot(self) -> None:
        """All spot nodes are gone at once, without a notice."""
        for number in range(SPOT):
            self.ground.control_plane.delete_node(f"{self.ground.namespace}-spot-{number}")

    def give_spot_back(self) -> None:
        """The spot nodes are back, empty; restore runs until all is as wanted, a few times."""
        self.ground.add_nodes(spot=SPOT, on_demand=0)
        kubeconfig = str(self.ground.control_plane.kubeconfig)
        command = [*EVENKEEL, "restore", "--kubeconfig", kubeconfig, "-n", self.ground.namespace]
        for _ in range(RUNS if self.way.is_restored else 0):
            with suppress(subprocess.TimeoutExpired):
                subprocess.run([*command, "--apply"], timeout=RESTORING, check=False, cwd=ROOT)
            self.settle(REPLICAS, LONGEST)

    def settle(self, replicas: int, longest: float) -> None:
        """Wait until all pods are Ready on nodes that are there, or for so many seconds."""
        give_up = time.monotonic() + longest
        while not self._is_settled(replicas) and time.monotonic() < give_up:
            time.sleep(EVERY)  # noqa: TID251 - a real cluster has its own clock

    def _is_settled(self, replicas: int) -> bool:
        found = self._items("apps/v1", "Deployment")
        pods, nodes = self._items("v1", "Pod"), self._nodes()
        return (
            sum(each["spec"]["replicas"] for each in found) == replicas == len(pods)
            and all(_is_through(each) for each in found)
            and all(is_ready(pod) and pod["spec"].get("nodeName") in nodes for pod in pods)
        )

    def _items(self, api_version: str, kind: str) -> Sequence[Manifest]:
        return self.ground.control_plane.items(api_version, kind, self.ground.namespace)

    def _nodes(self) -> Collection[str]:
        nodes = self.ground.control_plane.items("v1", "Node")
        return {node["metadata"]["name"] for node in nodes}


def _is_through(found: Manifest) -> bool:
    """Whether all of a Deployment's pods are of its last version and available."""
    status, wanted = found.get("status", {}), found["spec"]["replicas"]
    seen = status.get("observedGeneration") == found["metadata"]["generation"]
    counts = ("replicas", "updatedReplicas", "availableReplicas")
    return seen and all(status.get(each, 0) == wanted for each in counts)
