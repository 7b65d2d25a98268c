"""The extender with a store that the test fills, object by object."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from threading import Condition
from typing import Any

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Listing, Relisted
from evenkeel.settings import Mode
from evenkeel_extender import calls
from evenkeel_extender.extender import Extender
from evenkeel_extender.store import SELECTIONS, Store
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.builders import NOW
from tests.kit.clocks import SetClock
from tests.unit.decisions.placement.pods import document

ROOM = {"cpu": "8", "memory": "32Gi"}
HOME = Namespace(metadata=builders.metadata("shop", namespace="", labels={names.MANAGED: "true"}))


class Waiting(Condition):
    """Who waits moves the clock, and is shown ``meanwhile`` what comes, 0.1 s after 0.1 s."""

    def __init__(self, clock: SetClock) -> None:
        super().__init__()
        self._clock = clock
        self.meanwhile: list[Callable[[], None]] = []

    def wait_for[T](self, predicate: Callable[[], T], timeout: float | None = None) -> T:
        assert timeout is not None
        until = self._clock.at + timedelta(seconds=timeout)
        while not (found := predicate()) and self._clock.at < until:
            self._clock.at += timedelta(seconds=0.1)
            if self.meanwhile:
                self.meanwhile.pop(0)()
        return found


class Scheduling:
    """A store, filled unless told otherwise, and the extender that knows it."""

    def __init__(self, *, mode: Mode = Mode.ACT, filled: bool = True) -> None:
        self.shows_pods = True  # a watch shows a pod before the scheduler asks about it
        self.clock = SetClock()
        self.recorder = InMemoryRecorder()
        self.store = Store(WELL_KNOWN, self.clock)
        self.store.known = self.waiting = Waiting(self.clock)
        self.extender = Extender(
            self.store, WELL_KNOWN, self.clock, self.recorder, mode=mode, everywhere=False
        )
        self.answerers = calls.answerers(self.extender, self.recorder)
        if filled:
            for selection in SELECTIONS:
                self.relist(selection.kind)
            self.show(HOME)

    def relist(self, kind: type[KubernetesObject], *items: KubernetesObject) -> None:
        """The watch of a kind begins, or begins anew, with these."""
        selection = next(each for each in SELECTIONS if each.kind is kind)
        self.store.absorb([Relisted(selection, Listing(items, "1"))])

    def show(self, *items: KubernetesObject, deleted: bool = False) -> None:
        """Watches show these one after the other."""
        for item in items:
            selection = next(each for each in SELECTIONS if each.kind is type(item))
            self.store.absorb([Change(selection, item, deleted=deleted)])

    def nodes(self, *found: str, spot: bool = True, **fields: Any) -> None:
        """Nodes with room."""
        for name in found:
            self.show(builders.node(name, spot=spot, allocatable=ROOM, **fields))

    def filter(self, pod: Mapping[str, Any], *nodes: str) -> dict[str, Any]:
        """What the scheduler gets from the filter."""
        found: dict[str, Any] = self._ask(calls.FILTER, pod, nodes)
        return found

    def left(self, pod: Mapping[str, Any], *nodes: str) -> list[str]:
        """The nodes that the filter leaves."""
        found = self.filter(pod, *nodes)
        assert "Error" not in found
        return list(found["NodeNames"])

    @property
    def waited(self) -> timedelta:
        """How long the scheduler was kept waiting."""
        return self.clock.boot()

    def scores(self, pod: Mapping[str, Any], *nodes: str) -> dict[str, int]:
        """The scores of nodes."""
        return {each["Host"]: each["Score"] for each in self._ask(calls.PRIORITIZE, pod, nodes)}

    def _ask(self, verb: str, pod: Mapping[str, Any], nodes: Sequence[str]) -> Any:
        if self.shows_pods:
            self.show(msgspec.convert(pod, Pod))
        asked = {"Pod": pod, "Nodes": None, "NodeNames": list(nodes)}
        return msgspec.json.decode(self.answerers[verb](msgspec.json.encode(asked)))


def waiting(
    owner: KubernetesObject | None = None,
    name: str = "web-x",
    namespace: str = "shop",
    *,
    made_ago: timedelta = timedelta(),
    **more: Any,
) -> dict[str, Any]:
    """A pod that waits for its node, as the scheduler sends it."""
    found = document(owner, name=name, **more)
    created = f"{NOW - made_ago:%Y-%m-%dT%H:%M:%SZ}"
    found["metadata"] |= {
        "namespace": namespace,
        "uid": f"{name}-uid",
        "creationTimestamp": created,
    }
    return found
