"""A storm that is too large for one reconciler: several share its workloads."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.flows.drain.lease.sharing import Stage
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.division import lease_of
from evenkeel.model.request import Create, Evict, Get, Operation, Patch, pointer
from tests.kit.asking import asks, failing
from tests.kit.builders import seconds
from tests.kit.manifests import deployment
from tests.kit.scene import CALM, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import lease

SPOT = [f"s{number}" for number in range(1, 5)]
SPARE = "o1 o2 o3 o4"
SIZES = {f"w{number}": 1 + number % 3 for number in range(12)}
STAGE = pointer(names.SHARE_STAGE)
LATE = 90
"""From so many seconds on pods go at their last moment: they have 30 s to end."""


def cluster(make_scene: MakeScene, pods_each: int = 8, *, start: float = 2) -> Scene:
    """24 pods of 12 workloads on four spot nodes; new ones are Ready after ``start`` seconds."""
    scene = make_scene(pods_each=pods_each, options=replace(CALM, start_seconds=(start, start)))
    apps = [deployment(name, size) for name, size in SIZES.items()]
    scene.given(*apps, on=" ".join(SPOT), spare=SPARE)
    return scene


def leases(scene: Scene) -> dict[int, dict[str, Any]]:
    """The Leases of reconcilers, by their numbers."""
    found = {obj["metadata"]["name"]: obj for obj in scene.cluster.objects("Lease")}
    known = {number: found.get(lease_of(number)) for number in range(8)}
    return {number: obj for number, obj in known.items() if obj is not None}


def holders(scene: Scene) -> dict[int, str]:
    """Who holds a Lease, by its number."""
    found = {n: obj["spec"]["holderIdentity"] for n, obj in leases(scene).items()}
    return {number: holder for number, holder in found.items() if holder}


def lowest(scene: Scene) -> dict[str, int]:
    """How few pods of each workload were Ready at least."""
    return {name: scene.lowest(name) for name in SIZES}


def left(scene: Scene, nodes: Sequence[str] = SPOT) -> list[str]:
    """The pods that are still on these nodes."""
    return [pod.name for name in SIZES for pod in scene.pods(name) if pod.spec.node_name in nodes]


@pytest.mark.parametrize("pods_each", [100, 12, 5])
def test_however_it_is_divided_no_workload_has_too_few_pods(
    make_scene: MakeScene, pods_each: int
) -> None:
    scene = cluster(make_scene, pods_each)
    scene.interrupt(*SPOT).run(until=50)
    assert lowest(scene) == SIZES
    assert left(scene) == []
    assert holders(scene) == {}


def test_one_that_is_small_is_one_reconcilers_and_asks_for_no_other_lease(
    make_scene: MakeScene,
) -> None:
    scene = cluster(make_scene, 24)
    scene.interrupt(*SPOT).run(until=60)
    assert sorted(leases(scene)) == [0]
    assert names.SHARES not in leases(scene)[0]["metadata"]["annotations"]
    about = asks(of=Lease)
    asked = [request for _, request in scene.requests if about(request)]
    assert {each.name for each in asked if isinstance(each, Get)} <= {names.HANDOVER_LEASE}


def test_it_is_shared_by_as_many_as_its_pods_need(make_scene: MakeScene) -> None:
    scene = cluster(make_scene, start=10)
    scene.interrupt(*SPOT).run(until=5)
    assert sorted(holders(scene)) == [0, 1, 2]
    assert len(set(holders(scene).values())) == 3


def test_nodes_that_follow_are_everybodys_also_theirs_who_had_gone(make_scene: MakeScene) -> None:
    scene = cluster(make_scene, 5)
    scene.interrupt("s1", "s2").run(until=20)
    scene.interrupt("s3", "s4").run(until=60)
    assert lowest(scene) == SIZES
    assert left(scene) == []


def kill(scene: Scene, number: int) -> None:
    scene.moving.running[number].kill()


def stop(scene: Scene, number: int) -> None:
    """It goes on when its Lease has run out and another has it."""
    scene.moving.running[number].suspend(seconds(25))


def take_away(scene: Scene, number: int) -> None:
    """Somebody deletes its Lease."""
    key = (names.SYSTEM_NAMESPACE, lease_of(number))
    scene.cluster.server.delete("Lease", key)


@pytest.mark.parametrize("number", [0, 1], ids=["the first", "another"])
@pytest.mark.parametrize("harm", [kill, stop, take_away])
def test_another_takes_what_one_had_that_is_killed_or_stopped_or_loses_its_lease(
    make_scene: MakeScene, harm: Callable[[Scene, int], None], number: int
) -> None:
    scene = cluster(make_scene, start=10)
    scene.interrupt(*SPOT).run(until=5)
    assert len(scene.moving.running) == 3
    harm(scene, number)
    scene.run(until=80)
    assert lowest(scene) == SIZES
    assert left(scene) == []


def test_none_counts_any_more_once_somebody_holds_the_first_who_knows_no_divisions(
    make_scene: MakeScene,
) -> None:
    """A version before takes the first Lease, which keeps its notes, and does the work of all."""
    scene = cluster(make_scene, start=10)
    scene.interrupt(*SPOT).run(until=5)
    notes = leases(scene)[0]["metadata"]["annotations"]

    def hold() -> None:
        now = scene.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        held = {"holderIdentity": "before", "leaseDurationSeconds": 15, "renewTime": now}
        lease(scene, annotations=notes, **held)
        if scene.seconds < LATE:
            scene.later(scene.seconds + 3, hold)

    hold()
    scene.run(until=LATE - 5)
    sent = [each for each in scene.written() if isinstance(each.write, Evict) and each.at > 9]
    assert sent == []
    written = {each.name for each in scene.writes if each.at > 9}
    assert written <= {names.HANDOVER_LEASE}


def test_a_role_that_may_not_use_the_other_leases_leaves_all_to_one(make_scene: MakeScene) -> None:
    """The rights of the version before: they name the first Lease."""
    scene = cluster(make_scene)
    about = asks(Get, Patch, of=Lease)
    failing(
        scene.cluster,
        ForbiddenError("leases.coordination.k8s.io is forbidden"),
        lambda request: about(request) and request.name != names.HANDOVER_LEASE,
    )
    scene.interrupt(*SPOT).run(until=60)
    assert lowest(scene) == SIZES
    assert left(scene) == []
    created = [each.write for each in scene.writes if isinstance(each.write, Create)]
    made = {each.object.name for each in created if isinstance(each.object, Lease)}
    assert made == {names.HANDOVER_LEASE}
    told = [message for message, _ in scene.recorder.notes if "one reconciler" in message]
    assert any("forbidden" in message for message in told)


def test_a_group_waits_until_the_pods_of_all_have_gone(make_scene: MakeScene) -> None:
    scene = cluster(make_scene, 3, start=10)
    seen = list[list[str]]()
    scene.on_take = lambda: seen.append(left(scene, ["s1"]))
    scene.scale_in("s1").run(until=120)
    assert seen == [[]]
    assert lowest(scene) == SIZES


def test_a_reconciler_that_reads_yet_says_that_some_may_reach_zero(make_scene: MakeScene) -> None:
    scene = make_scene(pods_each=8, options=replace(CALM, latency=seconds(2)))
    apps = [deployment(name, size) for name, size in SIZES.items()]
    scene.given(*apps, on=" ".join(SPOT), spare=SPARE)
    scene.interrupt(*SPOT).run(until=80)
    first = dict[str, str]()
    for _, request in scene.requests:
        if isinstance(request, Patch) and request.kind is Lease:
            for each in request.body:
                if isinstance(each, Operation) and each.path.endswith(STAGE):
                    first.setdefault(request.name, str(each.value))
    assert len(first) == 3
    assert set(first.values()) == {Stage.ZEROS_WAIT}
