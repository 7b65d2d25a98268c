"""Rules as Kyverno and Gatekeeper have them, of pods that are changed and of pods that are made."""

from collections.abc import Callable

import msgspec
import pytest

from evenkeel_sandbox.simulator.api.objects import Obj, labels_of
from evenkeel_sandbox.simulator.api.webhooks import Answer, Webhook
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import deployment
from tests.kit.others import WORDS, refuse
from tests.kit.scene import Scene

TEAM = {"team": "a"}


def add_team(cluster: SimulatedCluster) -> None:
    """Each pod that is written to gets a label, as a mutating rule of Kyverno's does."""

    def policy(_: Obj, new: Obj) -> Obj:
        if new["kind"] != "Pod":
            return new
        return {**new, "metadata": {**new["metadata"], "labels": {**labels_of(new), **TEAM}}}

    cluster.enforce(policy)


def require_team_of_new_pods(cluster: SimulatedCluster) -> Callable[[], None]:
    """No pod is made without a label, as Gatekeeper has it; answers what ends that."""

    def ask(review: bytes) -> Answer:
        request = msgspec.json.decode(review)["request"]
        allowed = TEAM.items() <= labels_of(request["object"]).items()
        status = {"code": 403, "message": WORDS, "reason": "Forbidden"}
        response = {"uid": request["uid"], "allowed": allowed, "status": status}
        return Answer(200, msgspec.json.encode({"response": response}))

    return cluster.ask(Webhook(ask, "validation.gatekeeper.sh", {"matchLabels": {}}))


def require_team_of_changed_pods(cluster: SimulatedCluster) -> Callable[[], None]:
    """The same of pods that are changed: Gatekeeper judges updates, too."""
    return refuse(
        cluster,
        403,
        lambda _, new: new["kind"] == "Pod" and not TEAM.items() <= labels_of(new).items(),
    )


def test_a_label_that_each_write_adds_is_no_write_undone(scene: Scene) -> None:
    scene.given(deployment("web", 3), spare="o1")
    add_team(scene.cluster)

    scene.interrupt("s1").run(until=60)

    assert scene.lowest("web") == 3
    assert not scene.told("WriteRefused")
    assert not scene.pods("web", "s1")


@pytest.mark.parametrize("replicas", [1, 3])
def test_pods_stay_to_their_last_moment_when_a_younger_rule_refuses_their_replacements(
    scene: Scene, replicas: int
) -> None:
    old = scene.given(deployment("web", replicas), spare="o1")
    require_team_of_new_pods(scene.cluster)

    scene.interrupt("s1").run(until=83)
    assert scene.lowest("web") == replicas

    scene.run(until=118)
    first, *last = sorted(map(scene.gone_at, old))
    assert first == pytest.approx(88.9 if replicas == 1 else 83.9, abs=0.5)
    assert last == pytest.approx([113.9] * len(last), abs=0.5)
    assert not any(WORDS in decision.message for _, decision in scene.told("WriteRefused"))


@pytest.mark.parametrize("replicas", [1, 3])
def test_a_hint_moves_none_of_them(scene: Scene, replicas: int) -> None:
    old = scene.given(deployment("web", replicas), spare="o1")
    require_team_of_new_pods(scene.cluster)

    scene.recommend("s1").run(until=1000)

    assert scene.lowest("web") == replicas
    assert [pod.name for pod in scene.pods("web")] == old
    assert not any(pod.released for pod in scene.pods("web"))


def test_one_is_missing_when_the_rule_refuses_releases_and_replacements(scene: Scene) -> None:
    """That nothing replaces a pod shows when the first one has gone."""
    old = scene.given(deployment("web", 3), spare="o1")
    require_team_of_changed_pods(scene.cluster)
    require_team_of_new_pods(scene.cluster)

    scene.interrupt("s1").run(until=88)
    assert scene.lowest("web") == 2

    scene.run(until=118)
    assert all(scene.gone_at(pod) < 115 for pod in old)


def test_a_hint_moves_none_when_the_rule_refuses_releases_and_replacements(scene: Scene) -> None:
    old = scene.given(deployment("web", 3), spare="o1")
    require_team_of_changed_pods(scene.cluster)
    require_team_of_new_pods(scene.cluster)

    scene.recommend("s1").run(until=1000)

    assert [pod.name for pod in scene.pods("web")] == old
    assert scene.lowest("web") == 3
