"""Invariant 12: no pool keeps more of a workload than its goal, and no service loses a pod for it.

Pods are in some pools, and then there are others. The webhook may be down, a pool may die, and
restore may die after a write. In the end each pool has room for all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hypothesis import example, given, note
from hypothesis import strategies as st

from evenkeel.model import names
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.property.judging import tries

MINUTE = 60
CALM = 12 * 3600
"""Seconds: ten minutes for each move, and what failed before may let the workload rest."""

POOLS = {pool: {names.INSTANCE_TYPE: pool[0], names.ZONE: pool[1]} for pool in ("ma", "mb", "ca")}


class Deed(StrEnum):
    """What happens before the calm."""

    DOWN = "the webhook is down"
    UP = "the webhook is up"
    DIES = "a pool dies, and is there again"
    GROWS = "the workload is scaled"
    WAIT = "some minutes pass"


@dataclass(frozen=True)
class Tale:
    """``size`` pods are in the first of the pools; a number says which pool, or how many minutes.

    ``dies_after``: restore dies after so many of its writes; 0: never.
    """

    size: int
    goal: str
    floor: str = "none"
    deeds: tuple[tuple[Deed, int], ...] = ()
    dies_after: int = 0


tales = st.builds(
    Tale,
    size=st.integers(1, 7),
    goal=st.sampled_from(["1", "2", "40%"]),
    floor=st.sampled_from(["none", "1"]),
    deeds=st.lists(st.tuples(st.sampled_from(Deed), st.integers(1, 20)), max_size=5).map(tuple),
    dies_after=st.one_of(st.just(0), st.integers(1, 12)),
)


class Story:
    """A tale as it goes."""

    def __init__(self, tale: Tale, scene: RestoreScene) -> None:
        self.tale, self.scene, self.size = tale, scene, tale.size
        self._generations = iter(range(100))
        notes = {names.ONE_POOL_AT_MOST: tale.goal, names.ON_DEMAND: tale.floor}
        scene.add_nodes("o", 2, spot=False, room="64")
        self._supply("ma")
        scene.apply(deployment("web", tale.size, notes=notes))
        scene.settle()
        self._supply("mb")
        self._supply("ca")
        scene.begin()
        scene.die_after(tale.dies_after)

    def tell(self) -> None:
        """Let everything happen, and then nothing more, until all is as it should be."""
        for deed, number in self.tale.deeds:
            self._do(deed, number)
            self.scene.settle(20)
        self.scene.webhook.down = False
        end = self.scene.seconds + CALM
        while self.scene.seconds < end and not self.is_as_wanted:
            self.scene.settle(5 * MINUTE)

    @property
    def held(self) -> Mapping[str, int]:
        """How many live pods each pool has."""
        nodes = [pod.spec.node_name for pod in self.scene.pods("web") if pod.active]
        return Counter(node[:2] for node in nodes if node[:2] in POOLS)

    @property
    def is_as_wanted(self) -> bool:
        """Whether no pool has more than the goal, or each has as many."""
        percent = max(1, self.size * 40 // 100)
        goal = {"1": 1, "2": 2, "40%": percent}[self.tale.goal]
        held = self.held
        is_all = sum(held.values()) == max(0, self.size - (self.tale.floor == "1"))
        return is_all and (
            max(held.values(), default=0) <= goal or all(held[pool] >= goal for pool in POOLS)
        )

    def _do(self, deed: Deed, number: int) -> None:
        match deed:
            case Deed.DOWN | Deed.UP:
                self.scene.webhook.down = deed is Deed.DOWN
            case Deed.DIES:
                pool = sorted(POOLS)[number % 3]
                nodes = [obj["metadata"]["name"] for obj in self.scene.cluster.objects("Node")]
                self.scene.interrupt(*(each for each in nodes if each.startswith(pool)))
                self.scene.settle(3 * MINUTE)
                self._supply(pool)
            case Deed.GROWS:
                self.size = number % 8
                self.scene.cluster.scale("Deployment", "web", "default", self.size)
            case Deed.WAIT:
                self.scene.settle(number * MINUTE)

    def _supply(self, pool: str) -> None:
        """Three nodes, so that there is one for each pod: a move puts no more on one."""
        labels: dict[str, Any] = POOLS[pool]
        for _ in range(3):
            self.scene.add_node(f"{pool}{next(self._generations)}", room="4", **labels)


@contextmanager
def told(tale: Tale) -> Iterator[Story]:
    scene = RestoreScene()
    try:
        story = Story(tale, scene)
        story.tell()
        yield story
    finally:
        scene.close()


@tries(1)
@given(tales)
@example(Tale(7, "2", "1", ((Deed.DOWN, 1), (Deed.WAIT, 20)), dies_after=2))
@example(Tale(6, "1", "none", ((Deed.DIES, 1), (Deed.GROWS, 7))))
def test_in_the_end_no_pool_has_too_many_pods_and_none_was_missed(tale: Tale) -> None:
    with told(tale) as story:
        note(f"{story.held} of {story.size}")
        assert story.is_as_wanted
        scaled = any(deed is Deed.GROWS for deed, _ in tale.deeds)
        assert scaled or story.scene.lowest("web") == tale.size
