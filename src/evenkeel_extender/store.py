"""What the watches have shown to the extender."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from threading import Condition
from typing import Any, Final

from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import ConfigMap, Namespace
from evenkeel.model.controllers.kinds import EVERYWHERE
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject, Metadata
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Relisted, Selection
from evenkeel.ports import Clock
from evenkeel_extender.node_scores import NodeScores
from evenkeel_extender.pod_counts import PodCounts

_PAUSE: Final = Selection(ConfigMap, names.SYSTEM_NAMESPACE, fields=f"metadata.name={names.PAUSED}")
SELECTIONS: Final[tuple[Selection[Any], ...]] = (
    Selection(Node),
    Selection(Namespace),
    Selection(Deployment),
    *map(Selection, EVERYWHERE.values()),
    _PAUSE,
    Selection(Pod),
)
"""What is watched."""

type Shown = Change[KubernetesObject] | Relisted[KubernetesObject]
"""What a watch shows."""


class Store:
    """Nodes, pods and their owners. Any number of threads may use it.

    Hold ``known`` over several questions, so that nothing changes between them.
    """

    def __init__(self, labels: CapacityLabels, clock: Clock) -> None:
        self._clock = clock
        self._labels = labels
        self.known = Condition()
        self.reset()

    def reset(self) -> None:
        """Forget everything: the watches begin again."""
        with self.known:
            self.nodes = NodeScores(self._labels)
            self.pods = PodCounts(self.nodes)
            self._unlisted = set(SELECTIONS)
            self._shown: defaultdict[type, dict[str, KubernetesObject]] = defaultdict(dict)
            self._owners: dict[str, KubernetesObject] = {}
            self._namespaces: dict[str, Namespace] = {}
            self.is_paused = False
            self.known.notify_all()

    @property
    def is_filled(self) -> bool:
        """Whether everything was shown at least once."""
        return not self._unlisted

    def namespace(self, name: str) -> Namespace | None:
        """A namespace, by its name."""
        return self._namespaces.get(name)

    def owner(self, key: str) -> KubernetesObject | None:
        """A controller or Deployment, by its key."""
        return self._owners.get(key)

    def absorb(self, arrivals: Iterable[Shown]) -> None:
        """Take in what watches have shown."""
        with self.known:
            now = self._clock.now()
            self.nodes.recover(now)
            for arrival in arrivals:
                if isinstance(arrival, Relisted):
                    self._relist(arrival, now)
                elif arrival.deleted:
                    self._lose(arrival.object, now)
                else:
                    self._see(arrival.object, now)
            self.known.notify_all()

    def _relist(self, relisted: Relisted[KubernetesObject], now: datetime) -> None:
        kind, items = relisted.selection.kind, relisted.listing.items
        there = {item.uid for item in items}
        for gone in [each for uid, each in self._shown[kind].items() if uid not in there]:
            self._lose(gone, now)
        for item in items:
            self._see(item, now)
        self._unlisted.discard(relisted.selection)

    def _see(self, item: KubernetesObject, now: datetime) -> None:
        self._shown[type(item)][item.uid] = _slim(item)
        match item:
            case Pod():
                self.pods.see(item)
            case Node():
                self.nodes.see(item, now)
            case Namespace():
                self._namespaces[item.name] = item
            case ConfigMap():
                self.is_paused = True
            case _:
                self._owners[item.key] = item

    def _lose(self, item: KubernetesObject, now: datetime) -> None:
        self._shown[type(item)].pop(item.uid, None)
        match item:
            case Pod():
                self.pods.lose(item.uid)
            case Node():
                self.nodes.lose(item.name, now)
            case Namespace():
                self._namespaces.pop(item.name, None)
            case ConfigMap():
                self.is_paused = False
            case _:
                self._owners.pop(item.key, None)


def _slim(item: KubernetesObject) -> KubernetesObject:
    """The part of an object that is kept to know it by: of pods, which are many, only its names."""
    if not isinstance(item, Pod):
        return item
    metadata = item.metadata
    return Pod(
        metadata=Metadata(name=metadata.name, namespace=metadata.namespace, uid=metadata.uid)
    )
