"""What a ReplicaSet makes of its pods: release, replacement, adoption, surplus."""

import pytest

from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Operation
from tests.contract.ground import Ground, owner_uid
from tests.contract.manifests import QUICK, SLOW_START, SLOW_STOP, deployment, template
from tests.kit.manifests import resource


@pytest.fixture(autouse=True)
def _nodes(ground: Ground) -> None:
    ground.add_node("a")
    ground.add_node("b")


def owned(ground: Ground) -> list[Pod]:
    return [pod for pod in ground.pods() if pod.active and pod.controller is not None]


def own_labels(pod: Pod) -> dict[str, str]:
    """A pod's labels without those that newer API servers copy from its node."""
    return {k: v for k, v in pod.metadata.labels.items() if not k.startswith("topology.")}


def start_slowly_from_now_on(ground: Ground) -> None:
    """Let the ReplicaSet make pods that do not become ready, without a rollout."""
    found = ground.get(Deployment, "web")
    assert found.spec.replicas
    ground.patch(Deployment, "web", {"spec": {"paused": True}})
    annotation = "/spec/template/metadata/annotations/evenkeel.test~1start-after"
    ground.patch(ReplicaSet, ground.replica_set().name, [Operation("replace", annotation, "1h")])


def test_pods_carry_hash_owner_and_the_templates_labels(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=2))
    pods = ground.ready_pods(2)
    replica_set = ground.replica_set()
    hash_ = replica_set.metadata.labels["pod-template-hash"]
    assert replica_set.name == f"web-{hash_}"
    assert replica_set.spec.selector.match_labels == {"app": "web", "pod-template-hash": hash_}
    assert replica_set.controller is not None
    assert replica_set.controller.name == "web"
    for pod in pods:
        assert own_labels(pod) == {"app": "web", "pod-template-hash": hash_}
        assert owner_uid(pod) == replica_set.uid
        assert pod.name.startswith(f"{replica_set.name}-")


def test_pods_elsewhere_that_name_it_as_their_controller_are_none_of_its(ground: Ground) -> None:
    """Anybody may write its uid into pods of his own namespace."""
    ground.apply(deployment("web", replicas=2))
    mine = ground.ready_pods(2)
    replica_set = ground.replica_set()
    elsewhere = f"{ground.namespace}-elsewhere"
    ground.apply(resource("Namespace", elsewhere), resource("ServiceAccount", "default", elsewhere))
    owner = {"kind": "ReplicaSet", "name": replica_set.name, "uid": replica_set.uid}
    metadata = {
        "namespace": elsewhere,
        "labels": replica_set.spec.selector.match_labels,
        "ownerReferences": [owner | {"apiVersion": "apps/v1", "controller": True}],
    }
    stranger = {"apiVersion": "v1", "kind": "Pod", "spec": template("web")["spec"]}
    for number in range(4):
        ground.apply({**stranger, "metadata": {"name": f"stranger-{number}", **metadata}})

    for pod in mine:
        ground.delete(pod, grace_seconds=0)

    assert not {pod.name for pod in mine} & {pod.name for pod in ground.ready_pods(2)}


def test_the_status_counts_what_is_there(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=2))
    ground.ready_pods(2)

    def counted() -> bool:
        counts = ground.counts(ReplicaSet, ground.replica_set().name)
        return (counts.replicas, counts.ready_replicas, counts.available_replicas) == (2, 2, 2)

    ground.eventually(counted)
    assert ground.counts(ReplicaSet, ground.replica_set().name).observed_generation >= 1


def test_a_deleted_pod_is_replaced_while_it_is_still_leaving(ground: Ground) -> None:
    ground.apply(deployment("web", template("web", SLOW_STOP)))
    (old,) = ground.ready_pods(1)
    ground.delete(old)
    (new,) = ground.ready_pods(1)
    assert new.uid != old.uid
    assert ground.get(Pod, old.name).leaving


def test_a_released_pod_is_replaced_and_stays(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=2))
    old, other = ground.ready_pods(2)
    released = ground.release(old)
    assert released.controller is None
    assert own_labels(released) == {"app": "web"}
    ground.ready_pods(3)
    assert {p.uid for p in owned(ground)} > {other.uid}
    assert len(owned(ground)) == 2
    left = ground.get(Pod, old.name)
    assert (left.uid, left.active, left.ready) == (old.uid, True, True)


def test_the_label_alone_releases_too_but_the_controller_has_to_write(ground: Ground) -> None:
    ground.apply(deployment("web"))
    (old,) = ground.ready_pods(1)
    label = "/metadata/labels/pod-template-hash"
    half = ground.patch(Pod, old.name, [Operation("remove", label)])
    assert half.controller is not None
    ground.eventually(lambda: ground.get(Pod, old.name).controller is None)
    ground.ready_pods(2)


def test_a_released_pod_is_adopted_again_when_its_label_is_back(ground: Ground) -> None:
    """And the replacement that is not ready yet is the surplus that goes."""
    ground.apply(deployment("web"))
    (old,) = ground.ready_pods(1)
    start_slowly_from_now_on(ground)
    ground.release(old)
    (new,) = ground.eventually(lambda: owned(ground))
    assert not new.ready
    ground.put_back(old)
    ground.gone(new)
    kept = ground.get(Pod, old.name)
    assert kept.uid == old.uid
    assert kept.controller == old.controller
    assert kept.status.start_time == old.status.start_time
    ground.never(lambda: len(owned(ground)) != 1, seconds=1)


def test_the_deployment_is_never_short_of_ready_pods_when_a_pod_is_released_and_rolled_back(
    ground: Ground,
) -> None:
    ground.apply(deployment("web", replicas=2))
    old, _ = ground.ready_pods(2)
    ground.release(old)
    ground.ready_pods(3)
    ground.put_back(old)

    def settled() -> bool:
        assert sum(1 for p in ground.pods() if p.ready and p.active) >= 2
        return len(owned(ground)) == 2 and len(ground.pods()) == 2

    ground.eventually(settled)


def test_an_eviction_of_a_released_pod_makes_no_replacement(ground: Ground) -> None:
    ground.apply(deployment("web"))
    (old,) = ground.ready_pods(1)
    ground.release(old)
    ground.ready_pods(2)
    (new,) = owned(ground)
    ground.evict(old)
    ground.gone(old)
    ground.never(lambda: {p.uid for p in owned(ground)} != {new.uid}, seconds=1)


def test_a_released_pod_that_is_leaving_does_not_count_as_terminating(ground: Ground) -> None:
    """So nothing that waits for terminating pods waits for it. The simulator counts none at all."""
    ground.apply(deployment("web", template("web", SLOW_STOP)))
    (old,) = ground.ready_pods(1)
    ground.release(old)
    ground.ready_pods(2)
    ground.evict(old)

    def counts() -> bool:
        kinds = {"ReplicaSet": ground.replica_set().name, "Deployment": "web"}
        found = [ground.whole(kind, name)["status"] for kind, name in kinds.items()]
        return any(status.get("terminatingReplicas") for status in found)

    ground.never(counts)
    assert ground.get(Pod, old.name).leaving


def test_surplus_that_is_not_ready_goes_first(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=3))
    pods = ground.ready_pods(3)
    broken = pods[1]
    ground.fail_probe(broken)
    ground.scale(Deployment, "web", 2)
    ground.gone(broken)
    assert {p.uid for p in owned(ground)} == {pods[0].uid, pods[2].uid}


def test_surplus_with_the_lower_deletion_cost_goes_first(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=3))
    pods = ground.ready_pods(3)
    cost = "controller.kubernetes.io/pod-deletion-cost"
    for pod, value in zip(pods, ("10", "-5", "0"), strict=True):
        ground.patch(Pod, pod.name, {"metadata": {"annotations": {cost: value}}})
    ground.scale(Deployment, "web", 2)
    ground.gone(pods[1])
    ground.scale(Deployment, "web", 1)
    ground.gone(pods[2])
    assert {p.uid for p in owned(ground)} == {pods[0].uid}


def test_surplus_on_the_crowded_node_goes_first(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=3))
    pods = ground.ready_pods(3)
    nodes = [pod.spec.node_name for pod in pods]
    crowded = {p.uid for p in pods if nodes.count(p.spec.node_name) == 2}
    assert len(crowded) == 2, "three pods spread over two nodes"
    ground.scale(Deployment, "web", 2)
    left = ground.ready_pods(2)
    assert len(crowded & {p.uid for p in left}) == 1


def test_the_pod_that_is_not_bound_goes_before_the_one_that_is(ground: Ground) -> None:
    ground.apply(deployment("web", template("web", SLOW_START), replicas=2))
    ground.eventually(lambda: len([p for p in ground.pods() if p.spec.node_name]) == 2)
    nowhere = {"spec": {"template": {"spec": {"nodeSelector": {"example.org/none": "x"}}}}}
    ground.patch(Deployment, "web", {"spec": {"paused": True}})
    ground.patch(ReplicaSet, ground.replica_set().name, nowhere)
    ground.scale(Deployment, "web", 3)
    unbound = ground.eventually(lambda: [p for p in ground.pods() if not p.spec.node_name])[0]
    ground.scale(Deployment, "web", 2)
    ground.gone(unbound)


def test_a_pod_is_available_only_when_it_was_ready_for_long_enough(ground: Ground) -> None:
    ground.apply(deployment("web", minReadySeconds=3))
    (pod,) = ground.ready_pods(1)
    name = ground.replica_set().name
    ground.eventually(lambda: ground.counts(ReplicaSet, name).ready_replicas == 1)
    assert ground.counts(ReplicaSet, name).available_replicas == 0
    assert not pod.available(ground.clock.now(), 3)
    ground.eventually(lambda: ground.counts(ReplicaSet, name).available_replicas == 1, seconds=10)
    assert pod.available(ground.clock.now(), 3)


def test_owned_pods_go_and_released_ones_stay_when_the_workload_is_deleted(
    ground: Ground,
) -> None:
    ground.apply(deployment("web", replicas=2))
    old, _ = ground.ready_pods(2)
    ground.release(old)
    ground.ready_pods(3)
    ground.delete(ground.get(Deployment, "web"))
    ground.eventually(lambda: [p.uid for p in ground.pods()] == [old.uid])
    assert not ground.list(ReplicaSet)
    ground.never(lambda: [p.uid for p in ground.pods()] != [old.uid], seconds=1)


def test_a_replica_set_that_is_being_deleted_makes_nothing(ground: Ground) -> None:
    ground.apply(deployment("web"))
    (pod,) = ground.ready_pods(1)
    hold = {"metadata": {"finalizers": ["example.org/hold"]}}
    ground.patch(ReplicaSet, ground.replica_set().name, hold)
    ground.delete(ground.get(Deployment, "web"))
    ground.eventually(lambda: ground.replica_set().leaving)
    ground.delete(pod)
    ground.gone(pod)
    ground.never(ground.pods, seconds=1)
    ground.patch(ReplicaSet, ground.replica_set().name, {"metadata": {"finalizers": None}})
    ground.eventually(lambda: not ground.list(ReplicaSet))


def test_a_ready_surplus_pod_goes_when_replicas_are_reduced_while_one_is_released(
    ground: Ground,
) -> None:
    """A scale-in does not touch the released pod: it has no controller."""
    ground.apply(deployment("web", replicas=2))
    old, _ = ground.ready_pods(2)
    ground.release(old)
    ground.ready_pods(3)
    ground.scale(Deployment, "web", 1)
    ground.eventually(lambda: len(owned(ground)) == 1)
    assert ground.get(Pod, old.name).active


def test_many_pods_are_replaced_when_they_are_released_together(ground: Ground) -> None:
    ground.apply(deployment("web", template("web", QUICK), replicas=20))
    pods = ground.ready_pods(20)
    for pod in pods:
        ground.release(pod)
    ground.ready_pods(40)
    assert len(owned(ground)) == 20
