"""Invariant 11: spot goes, comes back and goes again, and no service loses a pod for it.

A few workloads of any size and floor. EC2 takes all spot nodes after a warning, has none for a
while, and an autoscaler makes nodes for pods that wait, in time or late. The webhook may be down,
and restore may die. In the end there is spot for all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

from evenkeel.model import names
from evenkeel.model.pod import Pod
from tests.kit.autoscaler import Autoscaler
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.property.judging import tries

MINUTE = 60
CALM = 16 * 3600
"""Seconds: what failed before may let a workload, or the cluster, rest for six hours twice."""

PERCENT = 5
QUIET = timedelta(minutes=10)
A_RUN = timedelta(seconds=5)
"""So long after a run has looked at the nodes it releases its last pod."""


class Deed(StrEnum):
    """What happens before the calm."""

    AWAY = "EC2 takes all spot nodes, and has none any more"
    BACK = "EC2 has spot nodes again"
    NODE = "a spot node comes by itself"
    DOWN = "the webhook is down"
    UP = "the webhook is up"
    WAIT = "some minutes pass"


@dataclass(frozen=True)
class Tale:
    """``deeds`` happen one after the other; a number says how many minutes pass.

    ``sizes`` and ``floors`` are the workloads'. Nodes come so many seconds ``late``.
    ``dies_after``: restore dies after so many of its writes; 0: never.
    """

    sizes: tuple[int, ...]
    floor: str = "1"
    late: int = 90
    deeds: tuple[tuple[Deed, int], ...] = ()
    dies_after: int = 0


tales = st.builds(
    Tale,
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple),
    floor=st.sampled_from(["none", "1", "50%"]),
    late=st.sampled_from([30, 90, 250, 320, 700]),
    deeds=st.lists(st.tuples(st.sampled_from(Deed), st.integers(1, 60)), max_size=8).map(tuple),
    dies_after=st.one_of(st.just(0), st.integers(1, 12)),
)


class Story:
    """A tale as it goes: who was Ready, and what moved without room, at every moment of it."""

    def __init__(self, tale: Tale, scene: RestoreScene) -> None:
        self.tale, self.scene = tale, scene
        self.apps = [f"w{number}" for number in range(len(tale.sizes))]
        self.begun: dict[str, datetime] = {}
        self.crowded: list[str] = []
        self.warned: list[datetime] = []
        self._numbers = iter(range(1_000))
        scene.add_node("o0", spot=False, room="64")
        self._add_spot()
        for app, size in zip(self.apps, tale.sizes, strict=True):
            scene.apply(deployment(app, size, notes={names.ON_DEMAND: tale.floor}))
        scene.begin()
        self.autoscaler = Autoscaler(scene, late=tale.late, room="0.4")
        scene.die_after(tale.dies_after)
        scene.cluster.server.store.observe("Pod", lambda _old, _new: self._look())

    def tell(self) -> None:
        """Let everything happen, and then nothing more, until all is as it should be."""
        for deed, number in self.tale.deeds:
            self._do(deed, number)
            self.scene.settle(20)
        self.scene.webhook.down = False
        self.autoscaler.supply = True
        end = self.scene.seconds + CALM
        while self.scene.seconds < end and not self.is_as_wanted:
            self.scene.settle(5 * MINUTE)

    @property
    def is_as_wanted(self) -> bool:
        return all(map(self._is_as_wanted, self.apps, self.tale.sizes))

    def _is_as_wanted(self, app: str, size: int) -> bool:
        floor = {"none": 0, "1": 1, "50%": (size + 1) // 2}[self.tale.floor]
        split = self.scene.split(app)
        return (split["on-demand"], split["spot"]) == (floor, size - floor)

    def _do(self, deed: Deed, number: int) -> None:
        match deed:
            case Deed.AWAY:
                self.autoscaler.supply = False
                doomed = [
                    node["metadata"]["name"]
                    for node in self.scene.cluster.objects("Node")
                    if not node["metadata"]["name"].startswith("o")
                    and names.DOOMED not in node["metadata"]["labels"]
                ]
                self.scene.interrupt(*doomed)
                self.warned += [self.scene.clock.now()] if doomed else []
                self.scene.settle(3 * MINUTE)
            case Deed.BACK:
                self.autoscaler.supply = True
            case Deed.NODE:
                self._add_spot()
            case Deed.DOWN | Deed.UP:
                self.scene.webhook.down = deed is Deed.DOWN
            case Deed.WAIT:
                self.scene.settle(number * MINUTE)

    def _add_spot(self) -> None:
        """Nodes for one pod each: a move puts no more of a workload on one than another has."""
        for _ in range(4):
            self.scene.add_node(f"s{next(self._numbers)}", room="0.1")

    def _look(self) -> None:
        """Who moves without room, and whether they are more than there may be."""
        pods = [msgspec.convert(each, Pod) for each in self.scene.cluster.objects("Pod")]
        moving = []
        for pod in pods:
            release = pod.believed_release(self.scene.clock.now()) if pod.released else None
            if release is not None and release.without_room and pod.active:
                moving.append(pod)
                self.begun.setdefault(pod.uid + str(release.since), release.since)
        to_go = sum(self.tale.sizes)
        if len(moving) > max(1, to_go * PERCENT // 100):
            self.crowded.append(", ".join(pod.name for pod in moving))


@contextmanager
def told(tale: Tale) -> Iterator[Story]:
    """The tale up to its end."""
    scene = RestoreScene()
    try:
        story = Story(tale, scene)
        story.tell()
        note(f"moves: {[f'{d.verb} {d.subject.name} {d.message}' for d in scene.moves()]}")
        yield story
    finally:
        scene.close()


AN_HOUR = (
    (Deed.AWAY, 1),
    (Deed.WAIT, 60),
    (Deed.BACK, 1),
    (Deed.WAIT, 60),
    (Deed.AWAY, 1),
    (Deed.WAIT, 60),
)


@pytest.mark.nightly
@tries(0.5)
@example(Tale((4, 4), deeds=AN_HOUR))
@example(Tale((5, 3, 2), floor="none", late=700, deeds=AN_HOUR))
@example(Tale((4, 4), deeds=AN_HOUR, dies_after=3))
@given(tales)
def test_no_service_loses_a_pod_few_move_without_room_and_spot_is_had_at_last(
    tale: Tale,
) -> None:
    with told(tale) as story:
        for app, size in zip(story.apps, tale.sizes, strict=True):
            assert story.scene.lowest(app) == size, app
        assert not story.crowded, story.crowded
        begun = sorted(story.begun.values())
        for at in begun:
            since = [at - warned for warned in story.warned if warned + A_RUN < at]
            assert all(each >= QUIET for each in since), at
        for at in begun:
            within_an_hour = sum(at <= each < at + timedelta(hours=1) for each in begun)
            assert within_an_hour <= 6 + sum(tale.sizes), at
        back = len(story.scene.told("DeadlinePassed"))
        assert back <= 10 * (1 + len(begun) - back), (back, len(begun))
        assert story.is_as_wanted, {app: dict(story.scene.split(app)) for app in story.apps}
        assert not story.scene.restoring.errors
