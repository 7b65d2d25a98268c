"""The table of pods on an interruption warning, row by row."""

from collections.abc import Callable

import pytest

from evenkeel.model import names
from tests.kit.manifests import (
    NO_SURGE,
    RECREATE,
    Manifest,
    bare_pod,
    claim,
    daemon_set,
    deployment,
    job,
    replica_set,
    resource,
    service,
    volume,
)
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """Without seats: these stories are of turns, and not of what turns wait for."""
    return make_scene(seats=0)


@pytest.mark.parametrize(
    ("manifests", "reason"),
    [
        ([deployment("app", **RECREATE)], "Recreate"),
        ([deployment("app", notes={names.HANDOVER: "never"})], "HandoverNever"),
        ([deployment("app", pod={"annotations": {names.HANDOVER: "never"}})], "HandoverNever"),
        ([deployment("app", **NO_SURGE)], "NoSurge"),
        ([claim("disk"), deployment("app", pod=volume("disk"))], "SingleNodeVolume"),
        ([replica_set("app")], "NoTemplateHash"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_single_replica_that_may_not_run_twice_goes_at_once(
    scene: Scene, manifests: list[Manifest], reason: str
) -> None:
    (pod,) = scene.given(*manifests, spare="o1")
    scene.interrupt("s1").run(until=10)

    assert scene.story(pod) == [f"1.0 evict {reason}"]
    assert scene.gone_at(pod) == 1.0
    assert scene.pod("app", "o1")


@pytest.mark.parametrize(
    ("manifests", "reason"),
    [
        ([deployment("app", 3, notes={names.HANDOVER: "never"})], "HandoverNever"),
        ([deployment("app", 3, **NO_SURGE)], "NoSurge"),
        ([replica_set("app", 3)], "NoTemplateHash"),
    ],
    ids=["never", "no surge", "no hash"],
)
def test_several_that_may_not_run_twice_go_one_after_the_other(
    scene: Scene, manifests: list[Manifest], reason: str
) -> None:
    pods = scene.given(*manifests, spare="o1")
    scene.interrupt("s1").run(until=30)

    gone = sorted(scene.gone_at(pod) for pod in pods)
    assert gone[0] == 1.0
    assert gone[1] - gone[0] >= 2
    assert gone[2] - gone[1] >= 2
    assert gone[2] < 10
    assert {line.split()[-1] for pod in pods for line in scene.story(pod)} == {reason}
    assert scene.lowest("app") == 2
    assert len(scene.pods("app", "o1")) == 3


@pytest.mark.parametrize("way", [RECREATE, {"pod": volume("disk")}], ids=["Recreate", "volume"])
def test_all_go_at_once_where_a_ration_would_gain_nothing(scene: Scene, way: Manifest) -> None:
    pods = scene.given(claim("disk"), deployment("app", 3, **way), spare="o1")
    scene.interrupt("s1").run(until=10)

    assert [scene.gone_at(pod) for pod in pods] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "manifests",
    [
        [claim("share", "ReadWriteMany"), deployment("app", pod=volume("share"))],
        [deployment("app", pod={"containers": [{"name": "main", "ports": [{"hostPort": 8080}]}]})],
    ],
    ids=["a volume that many nodes can mount", "a host port, for it runs on another node"],
)
def test_it_is_no_hindrance_for_the_replacement(scene: Scene, manifests: list[Manifest]) -> None:
    (pod,) = scene.given(*manifests, spare="o1")
    scene.interrupt("s1").run(until=10)

    assert scene.story(pod).order()[0] == "release NodeDoomed"
    assert scene.lowest("app") == 1


def hash_policy(template_hash: str) -> Manifest:
    """A NetworkPolicy that selects by template hash."""
    selector = {"matchLabels": {names.TEMPLATE_HASH: template_hash}}
    return resource("NetworkPolicy", "only-this", "default", spec={"podSelector": selector})


def hash_service(template_hash: str) -> Manifest:
    """A Service that selects by template hash."""
    return service("app", **{names.TEMPLATE_HASH: template_hash})


@pytest.mark.parametrize("selecting", [hash_service, hash_policy])
def test_what_selects_by_template_hash_would_lose_a_released_pod(
    scene: Scene, selecting: Callable[[str], Manifest]
) -> None:
    scene.place(deployment("app", 2))
    pods = [pod.name for pod in scene.pods("app")]
    template_hash = scene.pods("app")[0].metadata.labels[names.TEMPLATE_HASH]
    scene.given(selecting(template_hash), on="", spare="o1")

    scene.interrupt("s1").run(until=20)

    assert min(scene.gone_at(pod) for pod in pods) == 1.0
    assert {line.split()[-1] for pod in pods for line in scene.story(pod)} == {"SelectedByHash"}
    assert scene.lowest("app") == 1


def test_rationed_pods_that_are_left_go_at_the_last_moment(scene: Scene) -> None:
    """The first finds no new place, so the second's turn never comes."""
    pods = scene.given(deployment("app", 2, **NO_SURGE))

    scene.interrupt("s1").run(until=118)

    first, second = sorted(pods, key=scene.gone_at)
    assert scene.story(first) == ["1.0 evict NoSurge"]
    assert scene.story(second) == ["1.0 wait NoSurge", "113.9 evict LastMoment"]


def test_a_job_runs_to_its_last_moment_and_may_finish_before(scene: Scene) -> None:
    finishing = {"annotations": {"evenkeel.test/complete-after": "80s"}}
    short, long = scene.given(job("short", pod=finishing), job("long"), spare="o1")
    scene.interrupt("s1").run(until=110)

    assert scene.story(short) == ["1.0 wait JobMayFinish"]
    assert scene.story(long) == ["1.0 wait JobMayFinish", "88.9 evict LastMoment"]
    assert scene.written(short) == []
    assert scene.gone_at(long) == 88.9


def test_a_bare_pod_stays_to_its_last_moment_with_a_warning(scene: Scene) -> None:
    scene.given(bare_pod("alone"), spare="o1")
    scene.interrupt("s1").run(until=110)

    assert scene.story("alone") == ["1.0 wait BarePod", "88.9 evict LastMoment"]
    assert [decision.warning for _, decision in scene.told("LastMoment")] == [True]


def test_a_pod_of_an_unknown_controller_goes_at_once(scene: Scene) -> None:
    owner = {
        "apiVersion": "apps.kruise.io/v1alpha1",
        "kind": "CloneSet",
        "name": "web",
        "uid": "0c1e9be2-5a27-4a0c-8a1f-5f3a8f1c2d3e",
        "controller": True,
    }
    pod = bare_pod("clone")
    pod["metadata"]["ownerReferences"] = [owner]
    scene.add_node("s1")
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    scene.cluster.load({**pod, "spec": {**pod["spec"], "nodeName": "s1"}, "status": ready})
    scene.begin()

    scene.interrupt("s1").run(until=10)

    assert scene.story("clone") == ["1.0 evict ForeignController"]


def test_what_belongs_to_the_node_or_has_ended_is_left(scene: Scene) -> None:
    static = bare_pod("static", annotations={names.MIRROR_POD: "x"})
    ended = bare_pod("ended", annotations={"evenkeel.test/complete-after": "1s"})
    going = bare_pod("going", grace=3600, annotations={"evenkeel.test/stop-after": "3600s"})
    scene.place(daemon_set("agent"), static, ended, going)
    scene.cluster.delete("Pod", "going", "default")
    scene.begin()
    agent = scene.pod("agent")

    scene.interrupt("s1", carried_out=False).run(until=119)

    assert scene.story(agent) == ["1.0 leave DaemonSet"]
    assert scene.story("static") == ["1.0 leave StaticPod"]
    assert scene.written(after=1) == []


def test_a_pod_that_is_not_ready_goes_as_well(scene: Scene) -> None:
    """Nothing serves, so nothing dips: its release costs nothing."""
    never_ready = {"annotations": {"evenkeel.test/ready-after": "3600s"}}
    (pod,) = scene.given(deployment("broken", pod=never_ready), spare="o1")
    scene.interrupt("s1").run(until=110)

    assert scene.story(pod).order()[0] == "release NodeDoomed"
    assert scene.gone_at(pod) <= 88.9
