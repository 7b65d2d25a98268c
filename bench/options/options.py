"""The options: the manifests of a workload, and what runs beside the control plane for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from tests.e2e.manifests import deployment, selector
from tests.e2e.placement.webhook import Ground
from tests.e2e.scheduling.scheduler import (
    answering,
    asking,
    extender_applied,
    profile_applied,
    running,
)
from tests.kit.control_plane import ROOT
from tests.kit.manifests import Manifest

REPLICAS: Final = 10
FLOOR: Final = 2
LABEL: Final = "eks.amazonaws.com/capacityType"
FLOORED: Final[Mapping[str, str]] = {names.ON_DEMAND: str(FLOOR)}
TIMES: Final[Mapping[str, Any]] = {"start": "2s", "stop": "1s"}


@dataclass(frozen=True, slots=True)
class Option:
    """``manifests`` makes the Deployments of a workload of this name; the last one is scaled.

    ``running`` is what has to run for it. Where it ``is_restored`` Evenkeel's restore is part.
    """

    name: str
    title: str
    manifests: Callable[[str], Sequence[Manifest]]
    running: Callable[[Ground], AbstractContextManager[None]] = lambda _: nullcontext()
    is_restored: bool = False


def two_deployments(name: str) -> Sequence[Manifest]:
    """One on on-demand of the floor's size, and one on spot."""
    return (
        _bound(f"{name}-on-demand", FLOOR, "ON_DEMAND"),
        _bound(f"{name}-spot", REPLICAS - FLOOR, "SPOT"),
    )


def spread(name: str) -> Sequence[Manifest]:
    """Of n pods at least (n - maxSkew) / 2 are on on-demand; spot is preferred.

    A template with a spread of its own loses the scheduler's default one over nodes, so it names
    that too. Without it pods share nodes.
    """
    over_nodes = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(selector(name))},
    }
    constraint = {
        "maxSkew": REPLICAS - 2 * FLOOR,
        "topologyKey": LABEL,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": dict(selector(name))},
        "matchLabelKeys": ["pod-template-hash"],
    }
    clause = {"key": LABEL, "operator": "In", "values": ["SPOT"]}
    preference = {"weight": 100, "preference": {"matchExpressions": [clause]}}
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}
    made = deployment(
        name,
        REPLICAS,
        topologySpreadConstraints=[constraint, over_nodes],
        affinity={"nodeAffinity": affinity},
        **TIMES,
    )
    return (made,)


def floored(name: str) -> Sequence[Manifest]:
    """A Deployment with Evenkeel's annotation."""
    return (deployment(name, REPLICAS, annotations=FLOORED, **TIMES),)


def scheduled(name: str) -> Sequence[Manifest]:
    """The same for the scheduler of manifests/scheduler."""
    return (deployment(name, REPLICAS, annotations=FLOORED, schedulerName=PROFILE, **TIMES),)


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


OPTIONS: Final = (
    Option("deployments", "two Deployments", two_deployments),
    Option("spread", "spread and affinity in the template", spread),
    Option("webhook", "webhook", floored, webhook, is_restored=True),
    Option("extender", "scheduler with the extender", scheduled, extender, is_restored=True),
    Option("profile", "scheduler profile alone", scheduled, profile, is_restored=True),
)


def _bound(name: str, replicas: int, capacity: str) -> Manifest:
    return deployment(name, replicas, nodeSelector={LABEL: capacity}, **TIMES)
