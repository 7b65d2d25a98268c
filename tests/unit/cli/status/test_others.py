"""Where pods are that no workload has, by the floors that place them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.meta import OwnerReference
from evenkeel.model.pod import Pod
from evenkeel.model.rollout import Rollout, RolloutSpec
from evenkeel_cli import words
from evenkeel_cli.status.others import Owners, owners, placed, told
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from tests.kit import builders

MANAGED = {names.MANAGED: "true"}
RAY = builders.foreign_owner("RayCluster", "ray.io/v1")
ALL = {names.ON_DEMAND: "all"}
NO_OWNERS: Owners = {}
NODES = {"o1": Capacity.ON_DEMAND, "s1": Capacity.SPOT}


def space(name: str = "default", labels: Mapping[str, str] = MANAGED, floor: str = "") -> Namespace:
    notes = {names.ON_DEMAND: floor} if floor else {}
    made = builders.metadata(name, namespace="", labels=dict(labels), annotations=notes)
    return Namespace(metadata=made)


def pod(name: str = "a", owner: OwnerReference | None = RAY, node: str = "o1", **other: Any) -> Pod:
    return builders.pod(name, of=owner, node=node, annotations=ALL, **other)


def said(pods: Sequence[Pod], *spaces: Namespace, workloads: Owners = NO_OWNERS) -> list[str]:
    here = placed(pods, spaces or [space()])
    return [*told(here, workloads, lambda each: NODES.get(each.spec.node_name))]


def test_the_pods_of_an_owner_are_counted_by_where_they_are() -> None:
    nodes = ("o1", "o1", "o1", "s1", "s1", "")
    (sentence,) = said([pod(f"p{number}", node=node) for number, node in enumerate(nodes)])
    assert sentence.endswith(
        "now 3 on on-demand, 2 on spot, 1 waiting. Restore moves none of them."
    )
    assert "the floor all (template) places its new pods" in sentence
    assert sentence.startswith("default/raycluster.ray.io/x: ")


def test_each_owner_has_a_sentence_and_a_bare_pod_is_its_own() -> None:
    spark = builders.foreign_owner("SparkApplication")
    sentences = said([pod("a"), pod("b", spark), pod("bare", None)])
    assert len(sentences) == 3
    assert sentences == sorted(sentences)
    assert any(each.startswith("default/pod/bare: ") for each in sentences)


def test_the_floor_may_be_the_namespace_s() -> None:
    bare = builders.pod("a", of=RAY)
    (sentence,) = said([bare], space(floor="none"))
    assert "the floor none (namespace) places its new pods" in sentence
    assert said([bare]) == []


def test_a_floor_that_nothing_can_keep_is_told_to_need_a_size() -> None:
    (sentence,) = said([builders.pod("a", of=RAY, annotations={names.ON_DEMAND: "2"})])
    assert "the floor 2 (template) places none of its pods, whose number is not known" in sentence
    assert "write all or none" in sentence


@pytest.mark.parametrize("kind", ["ReplicaSet", "Job", "Rollout"])
def test_the_floor_of_what_has_no_row_is_told_with_its_size(kind: str) -> None:
    """A Rollout's is that of all its ReplicaSets."""
    notes = {names.ON_DEMAND: "2"}
    rollout = Rollout(
        metadata=builders.metadata("web", annotations=notes), spec=RolloutSpec(replicas=5)
    )
    owner: Controller = {
        "ReplicaSet": builders.replica_set(of=None, replicas=5, annotations=notes),
        "Job": builders.job(parallelism=5, annotations=notes),
        "Rollout": builders.replica_set(of=rollout.as_controller, replicas=2),
    }[kind]
    top = rollout if kind == "Rollout" else owner
    cluster = RecordedCluster([builders.manifest(each) for each in (rollout, owner)])
    pods = [builders.pod("a", of=owner, node="s1"), builders.pod("b", of=owner, node="o1")]
    (sentence,) = said(pods, workloads=owners(cluster, pods))
    assert "the floor 2 (workload) has 2 of 5 new pods placed on on-demand; now 1 on" in sentence
    assert sentence.startswith(words.workload_name(top.reference))


@pytest.mark.parametrize(
    "of_no_interest",
    [
        pytest.param(pod(owner=builders.foreign_owner("DaemonSet", "apps/v1")), id="its node's"),
        pytest.param(pod(owner=builders.foreign_owner("Node", "v1")), id="the kubelet's own"),
        pytest.param(pod(phase="Succeeded"), id="it has ended"),
        pytest.param(
            builders.pod(of=builders.replica_set(), released=builders.release(), annotations=ALL),
            id="it is released",
        ),
        pytest.param(builders.pod(of=RAY), id="nobody asks for a floor"),
    ],
)
def test_nothing_is_said_of_a_pod(of_no_interest: Pod) -> None:
    assert said([of_no_interest]) == []


@pytest.mark.parametrize(
    ("where", "is_said"),
    [
        pytest.param(space(), True, id="managed"),
        pytest.param(space(labels={}), False, id="without the label"),
        pytest.param(space(labels={names.MANAGED: "false"}), False, id="not managed"),
    ],
)
def test_pods_are_told_of_in_managed_namespaces(where: Namespace, *, is_said: bool) -> None:
    assert bool(said([pod()], where)) is is_said


def test_the_cluster_s_own_namespaces_are_none_of_them() -> None:
    own = min(names.CLUSTERS_OWN)
    assert said([pod(namespace=own)], space(own)) == []
