"""Where pods are that no workload has, by the floors that place them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import OwnerReference
from evenkeel.model.pod import Pod
from evenkeel_cli.status.others import told
from tests.kit import builders

MANAGED = {names.MANAGED: "true"}
RAY = builders.foreign_owner("RayCluster", "ray.io/v1")
ALL = {names.ON_DEMAND: "all"}
NODES = {"o1": Capacity.ON_DEMAND, "s1": Capacity.SPOT}


def space(name: str = "default", labels: Mapping[str, str] = MANAGED, floor: str = "") -> Namespace:
    notes = {names.ON_DEMAND: floor} if floor else {}
    made = builders.metadata(name, namespace="", labels=dict(labels), annotations=notes)
    return Namespace(metadata=made)


def pod(name: str = "a", owner: OwnerReference | None = RAY, node: str = "o1", **other: Any) -> Pod:
    return builders.pod(name, of=owner, node=node, annotations=ALL, **other)


def said(pods: Sequence[Pod], *spaces: Namespace) -> list[str]:
    return [*told(pods, spaces or [space()], lambda each: NODES.get(each.spec.node_name))]


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


@pytest.mark.parametrize(
    "of_no_interest",
    [
        pytest.param(pod(owner=builders.replica_set().as_controller), id="a workload has it"),
        pytest.param(pod(owner=builders.foreign_owner("DaemonSet", "apps/v1")), id="its node's"),
        pytest.param(pod(owner=builders.foreign_owner("Node", "v1")), id="the kubelet's own"),
        pytest.param(pod(phase="Succeeded"), id="it has ended"),
        pytest.param(
            builders.pod(of=builders.replica_set(), released=builders.release(), annotations=ALL),
            id="it is released",
        ),
        pytest.param(builders.pod(of=RAY), id="nobody asks for a floor"),
        pytest.param(
            builders.pod(of=RAY, annotations={names.ON_DEMAND: "2"}), id="a floor needs a size"
        ),
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
