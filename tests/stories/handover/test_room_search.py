"""A StatefulSet's pod that could stay does not go before a node is known to take its next one."""

import itertools
from functools import partial
from typing import Any

import pytest

from evenkeel.decisions.drain.remedies import LOOSER_RULES, ROOM
from evenkeel.decisions.drain.returning import RECOMMENDATION
from evenkeel.errors import ForbiddenError
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import PersistentVolume
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, List, Selection
from evenkeel.settings import Mode
from evenkeel_cli.ways import situations, with_places
from tests.kit.asking import asks
from tests.kit.manifests import Manifest, stateful_set, volume
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import SETTLED, disk

A: dict[str, Any] = {names.ZONE: "a"}
B = {names.ZONE: "b"}


def evicted(scene: Scene) -> list[tuple[float, str]]:
    return [(sent.at, sent.name) for sent in scene.written() if isinstance(sent.write, Evict)]


def given(scene: Scene, *manifests: Manifest, spare: dict[str, Any] | None = None) -> None:
    """A StatefulSet of one on s1, in zone a, and another node, if any."""
    scene.add_node("s1", **A)
    scene.place(*manifests, on="", settle=SETTLED)
    if spare is not None:
        scene.add_node("o1", **spare)
    scene.begin()


WITH_DISK = stateful_set("db", 1, pod=volume("disk"))
NOWHERE: dict[str, tuple[list[Manifest], dict[str, Any] | None]] = {
    "there is no other node": ([stateful_set("db", 1)], None),
    "the other one is full": ([stateful_set("db", 1)], {"room": "0.05"}),
    "its rules do not allow the other one": (
        [stateful_set("db", 1, pod={"nodeSelector": A})],
        B,
    ),
    "its volume is not there": ([*disk("a"), WITH_DISK], B),
}
REMEDIES = dict(zip(NOWHERE, (ROOM, ROOM, LOOSER_RULES, LOOSER_RULES), strict=True))


@pytest.mark.parametrize("why", NOWHERE)
def test_a_hint_leaves_a_pod_that_no_other_node_takes(scene: Scene, why: str) -> None:
    manifests, spare = NOWHERE[why]
    given(scene, *manifests, spare=spare)

    scene.recommend("s1").run(until=300)

    assert scene.story("db-0").order() == ["leave NoPlace"]
    assert scene.lowest("db") == 1
    ((_, left),) = scene.told("NoPlace")
    assert left.why is not None
    assert left.why.remedy == REMEDIES[why], left.message


@pytest.mark.parametrize("why", NOWHERE)
def test_the_commands_say_the_same(scene: Scene, why: str) -> None:
    manifests, spare = NOWHERE[why]
    given(scene, *manifests, spare=spare)
    on_node = Selection(Pod, fields="spec.nodeName=s1")

    (found,) = with_places(
        scene.cluster, WELL_KNOWN, situations(scene.cluster, [on_node], scene.clock)
    )

    way = found.way_for(RECOMMENDATION)
    assert (way.reason, way.remedy) == ("NoPlace", REMEDIES[why]), way.cause


@pytest.mark.parametrize("why", NOWHERE)
def test_a_warning_does_not_ask(scene: Scene, why: str) -> None:
    manifests, spare = NOWHERE[why]
    given(scene, *manifests, spare=spare)

    scene.interrupt("s1").run(until=60)

    assert scene.story("db-0").order()[0] == "seat SeatWanted"
    assert not any(is_list_of_nodes(request) for _, request in scene.requests)


def is_list_of_nodes(request: Any) -> bool:
    """Whether all nodes are listed that could take a pod."""
    is_list = isinstance(request, List) and request.selection.kind is Node
    return is_list and request.selection.labels.startswith("!") and not request.limit


@pytest.mark.parametrize(
    ("manifests", "spare"),
    [([stateful_set("db", 1)], B), ([*disk("a"), WITH_DISK], A)],
    ids=["any node", "its volume's zone"],
)
def test_where_one_takes_it_it_goes(scene: Scene, manifests: list[Manifest], spare: Any) -> None:
    given(scene, *manifests, spare=spare)
    scene.recommend("s1").run(until=60)
    assert scene.story("db-0").order() == ["evict StatefulSet"]
    assert [pod.spec.node_name for pod in scene.pods("db")] == ["o1"]


def test_a_place_that_comes_is_found(scene: Scene) -> None:
    scene.given(stateful_set("db", 1), settle=SETTLED)
    scene.later(100, partial(scene.add_node, "o1"))
    scene.recommend("s1").run(until=240)
    ((at, _),) = evicted(scene)
    assert 100 < at < 100 + 62


def test_room_for_one_is_no_room_for_two(scene: Scene) -> None:
    """Two StatefulSets, and both would fit if each were alone."""
    one, two = (stateful_set(name, 1, pod={"cpu": "1"}) for name in ("one", "two"))
    scene.given(one, two, spare="o1", room={"o1": "1.5"}, settle=SETTLED)

    scene.recommend("s1").run(until=300)

    assert len(evicted(scene)) == 1
    assert scene.lowest("one") + scene.lowest("two") == 1


def test_many_full_nodes_are_looked_at_a_part_at_a_time(scene: Scene) -> None:
    scene.place(stateful_set("db", 1), settle=SETTLED)
    scene.add_node("o1")
    for number in range(70):
        scene.add_node(f"o-full-{number}", room="0.05")
    scene.begin()

    scene.recommend("s1").run(until=300)

    assert len(evicted(scene)) == 1
    looked = [at for at, request in scene.requests if is_list_of_nodes(request)]
    assert all(later - sooner >= 10 for sooner, later in itertools.pairwise(looked))


def test_a_volume_that_may_not_be_read_keeps_its_pod_where_it_is(scene: Scene) -> None:
    """The role is older than the functions: that is said once, and holds up no other pod."""
    given(scene, *disk("a"), WITH_DISK, stateful_set("other", 1), spare=A)
    scene.fail(ForbiddenError("no right"), asks(of=PersistentVolume))
    scene.recommend("s1").run(until=120)
    assert scene.story("db-0").order() == ["leave NoPlace"]
    assert scene.story("other-0").order() == ["evict StatefulSet"]
    assert [note for note, _ in scene.recorder.notes if "no right" in note] == [
        "places for pods that a hint may move are not known: no right"
    ]


@pytest.mark.parametrize(("room", "word"), [("0.05", "leave NoPlace"), ("4", "evict StatefulSet")])
def test_observe_mode_decides_the_same(make_scene: MakeScene, room: str, word: str) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    scene.given(stateful_set("db", 1), spare="o1", room={"o1": room}, settle=SETTLED)
    scene.recommend("s1").run(until=100)
    assert scene.story("db-0").order()[-1] == word
