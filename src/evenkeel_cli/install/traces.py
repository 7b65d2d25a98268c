"""What Evenkeel wrote on nodes, pods and workloads, and how it goes."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from evenkeel.errors import NotFoundError
from evenkeel.model import names
from evenkeel_cli.cancelling import cancel
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.objects import Objects, title
from evenkeel_cli.install.site import Site
from evenkeel_cli.manifests import Manifest
from evenkeel_hosting.memory import InMemoryRecorder

EVERY: Final = timedelta(seconds=2)
NOTES: Final = (
    names.COOLDOWN,
    names.POOL_COOLDOWN,
    names.EVICTION_COOLDOWN,
    names.RESTORED,
    names.FLOOR_RELAXED,
    names.FULL_POOLS,
    names.REFUSED,
)
"""Annotations on workloads; the Deployment controller copies them to its ReplicaSets."""
WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet")


class Quiet:
    """No handover is under way: what was begun has ended, one way or the other."""

    title = "handovers"

    def __init__(self, site: Site, patience: timedelta) -> None:
        """``patience``: how long to wait for them, while the functions still work."""
        self._site = site
        self._patience = patience

    def look(self) -> Sequence[str]:
        """How many pods are released."""
        count = len(released(self._site.objects))
        seconds = f"{self._patience.total_seconds():.0f} s"
        return [f"wait up to {seconds} for {count} handovers under way"] if count else []

    def do(self) -> None:
        """Wait; what is left then goes back to its owner when the stack is gone."""
        give_up = self._site.clock.now() + self._patience
        while released(self._site.objects) and self._site.clock.now() < give_up:
            self._site.clock.sleep(EVERY)


class Lifted:
    """No node is marked or held, and no pod released."""

    title = "nodes"

    def __init__(self, site: Site) -> None:
        """Stands behind the step that takes the functions away: nobody marks nodes any more."""
        self._site = site

    def look(self) -> Sequence[str]:
        """The nodes that are marked, held, or that released pods are on."""
        found = self._nodes()
        told = f"lift marks and holds, and give released pods back: {', '.join(found)}"
        return [told] if found else []

    def do(self) -> None:
        """Do as ``evenkeel cancel`` does for each. Raises ClusterError."""
        for name in self._nodes():
            try:
                cancel(self._site.cluster, name, InMemoryRecorder(), act=True)
            except NotFoundError:
                continue  # the node is gone, its pods with it

    def _nodes(self) -> Sequence[str]:
        ours = (names.DOOMED, names.SEAT)
        marked = [each for key in ours for each in self._site.objects.every("v1", "Node", key)]
        of_pods = (pod["spec"].get("nodeName", "") for pod in released(self._site.objects))
        return sorted({each["metadata"]["name"] for each in marked} | set(filter(None, of_pods)))


class Unwritten:
    """No pod template holds what restore wrote into it."""

    title = "templates"

    def __init__(self, objects: Objects) -> None:
        """Goes first: restore itself takes off what it wrote."""
        self._objects = objects

    def look(self) -> Sequence[str]:
        """The workloads whose template it wrote."""
        found = [title(each) for each in _workloads(self._objects, (names.TEMPLATE,))]
        return [f"written by restore: {', '.join(found)}"] if found else []

    def do(self) -> None:
        """Refuse: to take it off is a rollout, which is the owner's to begin."""
        raise UnmetError(
            f"these templates hold what restore wrote: take the annotation {names.PLACEMENT} off"
            " these workloads, and restore takes that off by a rollout"
        )


class Forgotten:
    """No workload carries a note of Evenkeel's."""

    title = "notes"

    def __init__(self, objects: Objects) -> None:
        """Stands behind the steps that take away whoever writes notes."""
        self._objects = objects

    def look(self) -> Sequence[str]:
        """How many carry one."""
        count = sum(1 for _ in _workloads(self._objects, NOTES))
        return [f"take Evenkeel's annotations off {count} workloads"] if count else []

    def do(self) -> None:
        """Take the annotations off."""
        for each in _workloads(self._objects, NOTES):
            self._objects.patch(each, {"metadata": {"annotations": dict.fromkeys(NOTES)}})


def released(objects: Objects) -> Sequence[Manifest]:
    """The pods that are released, wherever they are."""
    return list(objects.every("v1", "Pod", names.RELEASED_FROM))


def _workloads(objects: Objects, annotations: Sequence[str]) -> Iterator[Manifest]:
    for kind in WORKLOADS:
        for each in objects.every("apps/v1", kind):
            have = each["metadata"].get("annotations", {})
            if any(annotation in have for annotation in annotations):
                yield each
