"""Waves of recommendations over half of a zone's nodes, for days: who moves, and how often."""

import itertools
from collections import defaultdict
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

import pytest

from evenkeel.decisions.drain.route import SETTLES
from evenkeel.model import names
from evenkeel.model.request import Evict
from tests.kit.manifests import deployment, stateful_set, volume
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import disk, drain

HOUR = 3600.0
ZONE: dict[str, Any] = {names.ZONE: "a"}
NODES = tuple(f"s{number}" for number in range(1, 7))
SETS = ("db", "cache", "queue")
EVERY = 2.4 * HOUR
"""A pod was moved fifty times in five days, at somebody who followed each recommendation."""


def zone(scene: Scene, *, others: int = 2) -> None:
    """Six spot nodes in zone a, where the volumes of three StatefulSets are, and others in b."""
    for name in NODES:
        scene.add_node(name, **ZONE)
    for name in SETS:
        scene.apply(*disk("a", name))
    scene.apply(*(stateful_set(name, pod=volume(name)) for name in SETS), deployment("web", 6))
    scene.settle(30)
    for number in range(others):
        scene.add_node(f"o{number}", spot=False, **{names.ZONE: "b"})
    scene.begin()


def waves(scene: Scene, days: float) -> None:
    """Recommend to replace half of the zone's nodes, others each time."""
    chosen = Random(1)  # noqa: S311 - an order, no secret
    for number in range(int(days * 24 * HOUR / EVERY)):
        half = chosen.sample(NODES, 3)
        scene.later(number * EVERY, partial(scene.recommend, *half))
    scene.run(until=days * 24 * HOUR)


def moves(scene: Scene) -> dict[str, list[float]]:
    """When each pod was told to go, by its name."""
    found = defaultdict[str, list[float]](list)
    for sent in scene.written():
        if isinstance(sent.write, Evict):
            found[sent.name].append(sent.at)
    return found


def test_a_pod_whose_volume_keeps_it_in_the_zone_leaves_one_gap_in_six_hours(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(rebalance_share=0.5)
    zone(scene)

    waves(scene, days=2)

    gone = moves(scene)
    assert sum(len(gone[f"{name}-0"]) for name in SETS) > 3, "they are moved now and then"
    for name in SETS:
        times = [-HOUR, *gone[f"{name}-0"]]
        rests = [later - sooner for sooner, later in itertools.pairwise(times)]
        assert min(rests[1:], default=SETTLES.total_seconds()) >= SETTLES.total_seconds()
        (pod,) = scene.pods(name)
        assert pod.spec.node_name in NODES
    assert scene.lowest("web") == 6


def test_a_young_one_goes_all_the_same_where_its_node_is_drained_or_ends(
    make_scene: MakeScene,
) -> None:
    scene = make_scene(rebalance_share=1.0)
    for number, name in enumerate(("one", "two")):
        scene.add_node(f"s{number}", room="0.15")
        scene.place(stateful_set(name), on="")
    scene.add_node("o1")
    scene.begin()

    scene.recommend("s0", "s1").run(until=60)
    assert not moves(scene)

    drain(scene, "s0")
    scene.interrupt("s1").run(until=120)
    assert sorted(moves(scene)) == ["one-0", "two-0"]


@pytest.mark.parametrize("left", [timedelta(minutes=10), timedelta(minutes=20)])
def test_it_goes_for_one_that_still_counts_once_it_is_old_enough(
    scene: Scene, left: timedelta
) -> None:
    """A recommendation counts for fifteen minutes."""
    scene.given(stateful_set("db"), spare="o1", settle=20)
    made = scene.pods("db")[0].metadata.creation_timestamp
    assert made is not None
    due = (made + SETTLES - scene.clock.now()).total_seconds()

    scene.run(until=due - left.total_seconds())
    scene.recommend("s1").run(until=due + 60)

    told = scene.story("db-0").order()
    assert told[0] == "leave CoolingDown"
    if left < timedelta(minutes=15):
        assert told[-1] == "evict StatefulSet"
        ((at,),) = moves(scene).values()
        assert due <= at < due + 15
    else:
        assert not moves(scene)
