"""No spot node has room, or none is there: pods go over once an autoscaler has made one."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import MOVES, REST, Scope, read
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.decision import Decision
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, List, Patch, Request
from evenkeel.model.spot_rest import SpotRest
from evenkeel.settings import Mode
from evenkeel_sandbox.application import Environments
from evenkeel_sandbox.simulator.event_source import SimulatedSchedule
from tests.kit.asking import asks
from tests.kit.autoscaler import Autoscaler
from tests.kit.manifests import deployment, quota
from tests.kit.restoring import EVERY, RestoreScene

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}
HOUR = 3600
SLOW = {"annotations": {"evenkeel.test/start-after": "400s"}}


def attempts(scene: RestoreScene) -> list[tuple[float, Decision]]:
    """The moves that began without room, with their times."""
    told = scene.told("AboveFloor")
    return [(at, each) for at, each in told if "waits for one" in each.message and each.write]


def cooldowns(scene: RestoreScene) -> int:
    """How many workloads rest."""
    deployments = scene.cluster.objects("Deployment")
    return sum(names.COOLDOWN in each["metadata"].get("annotations", {}) for each in deployments)


def rest(scene: RestoreScene) -> SpotRest:
    """What is known of such moves."""
    (found,) = (
        each
        for each in scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
        if each["metadata"]["name"] == names.SPOT_REST
    )
    return SpotRest.of(msgspec.convert(found, Lease), scene.clock.now())


def on_on_demand(
    scene: RestoreScene, *apps: str, size: int = 4, on: str = "o0", **options: Any
) -> None:
    """These workloads, all on one on-demand node or these, and the story begins."""
    scene.given(
        *(deployment(app, size, notes={names.ON_DEMAND: "1"}, **options) for app in apps),
        on=on,
        room={"o": "64"},
    )


def test_a_node_is_made_for_one_pod_and_then_the_others_go(scene: RestoreScene) -> None:
    on_on_demand(scene, "web")
    nodes = Autoscaler(scene)
    scene.run(until=15 * 60)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert nodes.made == ["a0"]
    assert nodes.most_at_once == 1
    assert len(attempts(scene)) == 1
    assert scene.lowest("web") == 4
    assert cooldowns(scene) == 0


def test_where_no_node_comes_the_pod_goes_back_and_rests_get_longer(scene: RestoreScene) -> None:
    on_on_demand(scene, "web", "api")
    nodes = Autoscaler(scene, supply=False)
    before = {pod.uid for app in ("web", "api") for pod in scene.pods(app)}

    scene.run(until=24 * HOUR)

    times = [at for at, _ in attempts(scene)]
    pauses = [round((later - at) / 60) for at, later in pairwise(times)]
    assert pauses[:6] == [11, 16, 26, 46, 86, 166]
    assert len(times) == 10
    assert nodes.most_at_once == 1
    assert {pod.uid for app in ("web", "api") for pod in scene.pods(app)} == before
    assert (scene.lowest("web"), scene.lowest("api")) == (4, 4)
    assert cooldowns(scene) == 0


def test_a_node_that_comes_late_is_room(scene: RestoreScene) -> None:
    on_on_demand(scene, "web")
    Autoscaler(scene, late=400)
    scene.run(until=15 * 60)
    assert len(attempts(scene)) == 1
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert scene.lowest("web") == 4


def test_none_waits_for_spot_for_ten_minutes_after_a_warning(scene: RestoreScene) -> None:
    scene.add_node("s0", room="1")
    on_on_demand(scene, "web")
    nodes = Autoscaler(scene)
    scene.run(until=200)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    scene.interrupt("s0").run(until=30 * 60)
    ((at, _),) = attempts(scene)
    assert 800 <= at <= 870
    assert nodes.made == ["a0"]
    assert scene.lowest("web") == 4


def test_after_a_success_several_go_at_once_as_long_as_none_comes_back(
    scene: RestoreScene,
) -> None:
    """40 workloads with 120 pods to go: six at once."""
    on_on_demand(scene, *(f"w{number:02}" for number in range(40)), on="o0 o1")
    nodes = Autoscaler(scene, room="0.4")
    scene.run(until=HOUR)
    assert 1 < nodes.most_at_once <= 6
    first, second, *_ = [at for at, _ in attempts(scene)]
    assert second - first > 90
    assert all(scene.lowest(f"w{number:02}") == 4 for number in range(40))


def test_a_workload_that_no_pool_suits_leaves_the_others_their_turn(scene: RestoreScene) -> None:
    scene.add_node("o-gpu", spot=False, room="64", gpu="yes")
    scene.apply(deployment("gpu", 9, pod={"nodeSelector": {"gpu": "yes"}}))
    on_on_demand(scene, "web")
    nodes = Autoscaler(scene)
    scene.run(until=2 * HOUR)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert scene.split("gpu") == {"on-demand": 9}
    assert nodes.most_at_once == 1
    assert scene.lowest("gpu") == 9
    assert cooldowns(scene) == 0


def test_a_workload_that_is_slow_on_its_node_rests_and_not_the_cluster(scene: RestoreScene) -> None:
    """Its node comes in time, and then its pod starts for 400 s."""
    on_on_demand(scene, "slow", size=2, pod=SLOW)
    Autoscaler(scene)
    scene.run(until=25 * 60)
    assert cooldowns(scene) == 1
    assert rest(scene).failures == 0


def refuse_releases(scene: RestoreScene, app: str) -> None:
    """As a policy does: restore announces a move of such pods, and may not release them."""

    def is_release(request: Request) -> bool:
        return isinstance(request, Patch) and request.kind is Pod and request.name.startswith(app)

    scene.fail(ForbiddenError("a policy denies it"), is_release)


def test_workloads_whose_releases_are_refused_leave_others_a_turn(scene: RestoreScene) -> None:
    """Also when turns are hours apart."""
    on_on_demand(scene, "denied-a", "denied-b", "web")
    Autoscaler(scene, supply=False)
    refuse_releases(scene, "denied")
    scene.run(until=24 * HOUR)
    turns = [each.workload.name for _, each in attempts(scene) if each.workload]
    assert turns[:9] == ["denied-a", "denied-b", "web"] * 3


def test_what_is_remembered_of_a_turn_goes_with_the_workload(scene: RestoreScene) -> None:
    on_on_demand(scene, "gone", "web")
    Autoscaler(scene, supply=False)
    scene.run(until=HOUR)
    before = moves_noted(scene)
    scene.cluster.delete("Deployment", "gone", "default")
    scene.run(until=12 * HOUR)
    assert (before, moves_noted(scene)) == (2, 1)


def moves_noted(scene: RestoreScene) -> int:
    """How many Leases tell of moves."""
    return len(ask(scene.cluster, List(MOVES)).items)


def test_where_a_quota_forbids_the_replacement_that_workload_rests(scene: RestoreScene) -> None:
    scene.manage("full")
    full = deployment("tight", 4, notes={names.ON_DEMAND: "1"}, namespace="full")
    limit = quota(pods="4")
    limit["metadata"]["namespace"] = "full"
    scene.apply(limit, full)
    on_on_demand(scene, "web")
    Autoscaler(scene)
    scene.run(until=20 * 60)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert cooldowns(scene) == 1
    assert rest(scene).failures == 0


def test_unless_it_can_be_noted_none_is_begun(scene: RestoreScene) -> None:
    on_on_demand(scene, "web")
    scene.fail(ForbiddenError("no"), asks(Create, Patch, of=Lease, name=names.SPOT_REST))
    Autoscaler(scene)
    scene.run(until=300)
    assert scene.split("web") == {"on-demand": 4}
    assert not [sent for sent in scene.written() if sent.name.startswith("web")]


@pytest.mark.parametrize("apart", [0.0, 0.02, 0.05, 0.1, 0.5])
def test_of_two_runs_at_once_one_begins_a_move(scene: RestoreScene, apart: float) -> None:
    on_on_demand(scene, "web", "api")
    nodes = Autoscaler(scene, supply=False)
    scene.settle(apart)
    other = SimulatedSchedule(scene.clock, Environments(scene._restore), every=EVERY)
    scene.run(until=300)
    assert nodes.most_at_once == 1
    assert scene.restoring.errors == other.errors == []


def test_observing_it_tells_and_waits_for_nothing(make_scene: Callable[..., RestoreScene]) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    on_on_demand(scene, "web")
    nodes = Autoscaler(scene)
    scene.run(until=300)
    assert attempts(scene)
    assert nodes.most_at_once == 0
    assert scene.written() == []


def test_a_run_about_one_namespace_begins_none(scene: RestoreScene) -> None:
    """It does not see the moves of the others."""
    on_on_demand(scene, "web")
    for namespace, reason in (("default", "NoRoomOnSpot"), ("", "AboveFloor")):
        made = plan(read(scene.cluster, scene.clock, Terms(), Scope(namespace)))
        found = [*(step.decision for step in made.steps), *made.left]
        assert [each.reason for each in found] == [reason]


def test_nor_does_the_run_of_somebody_who_may_not_read_leases(scene: RestoreScene) -> None:
    on_on_demand(scene, "web")
    scene.fail(ForbiddenError("no"), asks(List, selection=REST))
    made = plan(read(scene.cluster, scene.clock, Terms(), Scope()))
    assert [each.reason for each in made.left] == ["NoRoomOnSpot"]
