"""Invariants 8 and 9: restore ends with exactly the floor, and never goes below it on its way.

A workload of any kind, size and floor is made, scaled, robbed of pods and of all its spot nodes,
with the webhook up and down, and restore dies after some of its writes. Then there is room for all,
and no one else writes any more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from hypothesis import example, given, note
from hypothesis import strategies as st

from evenkeel.model import names
from evenkeel.model.floor import read
from tests.kit.manifests import deployment, stateful_set
from tests.kit.restoring import RestoreScene
from tests.property.judging import IS_DEEP, tries

LARGEST = 50 if IS_DEEP else 9
PATIENCE = 4 * 3600
"""Seconds: failures before the calm may let it rest for long."""

STEP = 300


class Deed(StrEnum):
    """What happens before the calm."""

    DOWN = "the webhook is down"
    UP = "the webhook is up"
    GONE = "all spot nodes are gone"
    BACK = "spot nodes come"
    SCALE = "the workload is scaled"
    DELETE = "a pod is deleted"
    WAIT = "some minutes pass"


@dataclass(frozen=True)
class Tale:
    """``deeds`` happen one after the other, 20 s apart; a number says to what, or which pod.

    ``dies_after``: restore dies after so many of its writes, whenever that is; 0: never. ``floor``
    is empty where nobody says one.
    """

    kind: str
    size: int
    floor: str
    deeds: tuple[tuple[Deed, int], ...] = ()
    dies_after: int = 0

    def floor_of(self, size: int) -> int:
        floor = read(self.floor)
        assert floor is not None
        return floor.of(size)


tales = st.builds(
    Tale,
    kind=st.sampled_from(["Deployment", "StatefulSet"]),
    size=st.integers(0, LARGEST),
    floor=st.one_of(
        st.sampled_from(["none", "all", "majority"]),
        st.integers(0, LARGEST + 1).map(str),
        st.integers(0, 100).map("{}%".format),
    ),
    deeds=st.lists(st.tuples(st.sampled_from(Deed), st.integers(0, LARGEST)), max_size=7).map(
        tuple
    ),
    dies_after=st.one_of(st.just(0), st.integers(1, 12)),
)


class Story:
    """A tale as it goes, and what pods there were at every moment of it."""

    def __init__(self, tale: Tale, scene: RestoreScene) -> None:
        self.tale, self.scene = tale, scene
        self.size = tale.size
        self.fewest: dict[str, int] = {}
        self._numbers = iter(range(1_000))
        scene.add_nodes("o", 3, spot=False, room="64")
        self._add_spot()
        make = {"Deployment": deployment, "StatefulSet": stateful_set}[tale.kind]
        manifest = make("web", tale.size)
        if tale.floor:
            manifest["metadata"]["annotations"] = {names.ON_DEMAND: tale.floor}
        scene.apply(manifest)
        scene.begin()
        scene.die_after(tale.dies_after)

    def tell(self) -> None:
        """Let everything happen, and then nothing more."""
        for deed, number in self.tale.deeds:
            self._do(deed, number)
            self.scene.settle(20)
        self.scene.webhook.down = False
        self._add_spot()
        self.scene.settle(120)  # what was deleted or lost is made again
        self.fewest = dict(self.counts())
        self.at_rest = dict(self.fewest)
        self.scene.cluster.server.store.observe("Pod", lambda _old, _new: self._look())

    def run(self) -> None:
        """Let restore work until all is as it should be, or for hours."""
        end = self.scene.seconds + PATIENCE
        while self.scene.seconds < end and not self.is_as_wanted:
            self.scene.settle(STEP)
        self.scene.settle(STEP)

    @property
    def is_as_wanted(self) -> bool:
        split = self.scene.split("web")
        wanted = self.tale.floor_of(self.size)
        return (split["on-demand"], split["spot"]) == (wanted, self.size - wanted)

    def counts(self) -> dict[str, int]:
        """How many pods are Ready at all, and on on-demand nodes."""
        ready = [pod for pod in self.scene.pods("web") if pod.ready and pod.active]
        kept = sum(pod.spec.node_name.startswith("o") for pod in ready)
        return {"ready": len(ready), "on-demand": kept}

    def _look(self) -> None:
        for what, count in self.counts().items():
            self.fewest[what] = min(self.fewest[what], count)

    def _do(self, deed: Deed, number: int) -> None:
        match deed:
            case Deed.DOWN | Deed.UP:
                self.scene.webhook.down = deed is Deed.DOWN
            case Deed.GONE:
                self.scene.remove_nodes("s")
            case Deed.BACK:
                self._add_spot()
            case Deed.SCALE:
                self.size = number
                self.scene.cluster.scale(self.tale.kind, "web", "default", number)
            case Deed.DELETE:
                pods = self.scene.pods("web")
                if pods:
                    pod = pods[number % len(pods)].name
                    self.scene.cluster.delete("Pod", pod, "default")
            case Deed.WAIT:
                self.scene.settle(60 * number)

    def _add_spot(self) -> None:
        """A node for each pod: a move puts no more on one than another has."""
        self.scene.add_nodes(f"s{next(self._numbers)}-", LARGEST, spot=True, room="64")

    @property
    def uids(self) -> set[str]:
        """The uids of its pods."""
        return {pod.uid for pod in self.scene.pods("web")}


@contextmanager
def told(tale: Tale) -> Iterator[Story]:
    """The tale up to its end."""
    scene = RestoreScene()
    try:
        story = Story(tale, scene)
        story.tell()
        story.run()
        note(f"moves: {[f'{d.verb} {d.subject.name} {d.reason}' for d in scene.moves()]}")
        yield story
    finally:
        scene.close()


MISSED = ((Deed.DOWN, 0), (Deed.SCALE, 6))
LOST = ((Deed.GONE, 0), (Deed.WAIT, 3))
MANY = Tale("StatefulSet", 5, "")


@tries()
@example(Tale("Deployment", 2, "50%", MISSED))
@example(Tale("Deployment", 5, "2", LOST))
@example(Tale("StatefulSet", 5, "majority", LOST))
@given(tales)
def test_the_end_has_exactly_the_floor_and_no_pod_is_missing_on_the_way(tale: Tale) -> None:
    with told(tale) as story:
        assert story.is_as_wanted, dict(story.scene.split("web"))
        gap = 1 if tale.kind == "StatefulSet" else 0
        floor = tale.floor_of(story.size)
        there = story.at_rest["on-demand"]
        least = min(story.size, story.at_rest["ready"]) - gap
        assert story.fewest["on-demand"] >= min(floor, there), story.fewest
        assert story.fewest["ready"] >= least, story.fewest


@tries()
@example(replace(MANY, deeds=MISSED))
@example(replace(MANY, deeds=LOST))
@given(tales.map(lambda tale: replace(tale, kind="StatefulSet", floor="")))
def test_no_pod_waits_or_goes_for_a_floor_that_nobody_asked_for(tale: Tale) -> None:
    scene = RestoreScene()
    try:
        story = Story(tale, scene)
        story.tell()
        before = story.uids
        assert story.at_rest["ready"] == len(before) == story.size
        scene.settle(3600)
        assert story.uids == before
        assert scene.moves() == []
    finally:
        scene.close()
