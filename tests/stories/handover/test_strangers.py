"""No tenant of one namespace can speak for a workload of another, whatever uid he writes down."""

from typing import Any

import msgspec

from evenkeel.flows.drain.cache.view import View
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from tests.kit import builders
from tests.kit.forging import forged, metadata_of
from tests.kit.manifests import budget, deployment, workload
from tests.kit.scene import Scene
from tests.unit.flows.drain.changes import taken


def elsewhere[T: KubernetesObject](item: T) -> T:
    """The same object, made by a tenant in his own namespace."""
    metadata = msgspec.structs.replace(item.metadata, namespace="strange", uid=f"not-{item.uid}")
    return msgspec.structs.replace(item, metadata=metadata)


def claiming(scene: Scene, name: str, victim: dict[str, Any], **release: Any) -> dict[str, Any]:
    """A pod that says that its release for a hint, from another namespace, has failed."""
    failed = {
        "reason": "rebalance",
        "since": scene.at(-600).isoformat(),
        "deadline": scene.at(-60).isoformat(),
    }
    return forged(name, scene, victim, "strange", **failed | release)


def test_a_workload_is_left_alone_when_a_stranger_s_pod_says_its_handover_failed(
    scene: Scene,
) -> None:
    scene.given(deployment("web", 2), on="o1")
    scene.apply(claiming(scene, "bad", metadata_of(scene, "ReplicaSet", "web")))

    scene.run(until=100)

    assert {sent.name for sent in scene.written()} == {"bad"}
    assert scene.story("bad").order() == ["delete WorkloadDeleted"]


def test_it_is_moved_for_a_recommendation_all_the_same(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")
    victim = metadata_of(scene, "ReplicaSet", "web")
    scene.apply(*(claiming(scene, f"bad-{i}", victim, wanted=1000) for i in range(3)))

    scene.recommend("s1").run(until=100)

    assert len(scene.pods("web", "o1")) == 2
    assert not scene.told("CoolingDown")
    assert not scene.told("HandoverRolledBack")


def test_its_own_budget_counts_and_no_stranger_s(scene: Scene) -> None:
    """The budget of the namespace of the pod that came first would let it go."""
    scene.given(deployment("web", 2), budget("web", minAvailable="100%"), spare="o1")
    victim = metadata_of(scene, "ReplicaSet", "web")
    late = scene.at(600).isoformat()
    scene.apply(*(claiming(scene, f"bad-{i}", victim, deadline=late) for i in range(20)))

    scene.recommend("s1").run(until=100)

    assert len(scene.pods("web", "s1")) == 2
    assert not [d for _, d in scene.told("NodeDoomed") if d.subject.name.startswith("web")]


def test_its_pods_are_its_own_namespaces_whatever_others_name_as_their_owner() -> None:
    view = View()
    replica_set = builders.replica_set()
    mine = builders.pod("web-1", of=replica_set)
    released = builders.pod("web-2", of=replica_set, released=builders.release(replica_set))
    for pod in (elsewhere(mine), elsewhere(released), mine, released):
        view.pods.update(pod)

    assert view.pods.members.of(replica_set.key) == [mine, released]


def test_a_deployment_is_none_of_a_replica_set_elsewhere() -> None:
    view = View()
    deployment = builders.deployment()
    replica_set = builders.replica_set(of=deployment)
    stranger = elsewhere(replica_set)
    view.update(replica_set)
    view.update(stranger)
    taken(view.queue)

    view.update(deployment)
    assert taken(view.queue) == {replica_set.key}
    assert view.owners.above(replica_set).deployment is deployment
    assert view.owners.above(stranger).deployment is None
    assert view.owners.of(elsewhere(builders.pod(of=replica_set))).deployment is None


def test_no_pod_is_kept_from_a_handover_by_pods_that_only_say_they_were_released(
    scene: Scene,
) -> None:
    """As many as the window takes, of a ReplicaSet whose pods no watch shows."""
    scene.given(deployment("web"), spare="o1")
    nowhere = {"nodeSelector": {"no": "node"}}
    scene.apply(workload("ReplicaSet", "hoard", 120, pod=nowhere, namespace="strange"))
    (made,) = (item["metadata"] for item in scene.cluster.objects("ReplicaSet", "strange"))
    since, deadline = scene.at(0).isoformat(), scene.at(600).isoformat()
    labels = {names.TEMPLATE_HASH: "zzz"}
    for number in range(120):
        owner = {"name": made["name"], "uid": made["uid"], "labels": labels}
        claim = claiming(
            scene, f"fake-{number}", owner, since=since, deadline=deadline, wanted=10**6
        )
        scene.apply(claim | {"spec": nowhere | {"containers": [{"name": "main"}]}})

    scene.interrupt("s1").run(until=60)

    assert scene.lowest("web") == 1
    assert scene.pods("web", "o1")
