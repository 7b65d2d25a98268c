"""A review costs the same whatever numbers the pod, its owners and its siblings bear."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.model import names
from tests.kit.effort import Effort, measured
from tests.kit.manifests import resource
from tests.stories.hostile import objects
from tests.stories.hostile.objects import Document
from tests.stories.placement.controlled import Controlled
from tests.stories.placement.scene import NAMESPACE, Placement, namespace, pod, workload

STEPS: Final = 2_000
"""A review of a pod with two siblings, 200 labels and all annotations takes no more."""

MEMORY: Final = 1_000_000
"""Bytes; the review itself is some 150,000."""


def job(name: str, parallelism: int, floor: str) -> Document:
    """A Job of as many pods at once."""
    made = workload("Job", name, 1, floor)
    spec = {"parallelism": parallelism, "template": made["spec"]["template"]}
    return made | {"apiVersion": "batch/v1", "spec": spec}


def effort_of(kind: str, size: int, floor: str) -> Effort:
    """What the first review of a workload's pod costs."""
    scene = Placement()
    made = job("web", size, floor) if kind == "Job" else workload(kind, "web", size, floor)
    scene.cluster.apply(made)
    name = {"name": "web-0"} if kind == "StatefulSet" else {}
    asked = pod(scene.read(kind, "web"), **name)
    with measured() as effort:
        assert scene.ask(asked)["allowed"]
    return effort


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "Job"])
@pytest.mark.parametrize("floor", ["99%", "1%", "majority", "999999"])
def test_a_review_costs_the_same_for_ten_replicas_and_for_a_billion(kind: str, floor: str) -> None:
    few, many = effort_of(kind, 10, floor), effort_of(kind, 10**9, floor)
    assert many.steps <= few.steps + 100
    assert many.memory <= few.memory + 100_000


@st.composite
def reviews(draw: st.DrawFn) -> tuple[list[Document], str, Document]:
    """Objects, the kind of the pod's owner, and what else the pod bears."""
    kind = draw(st.sampled_from(["ReplicaSet", "StatefulSet", "Job"]))
    size, floor = draw(objects.INT32), draw(objects.FLOORS)
    made = job("web", size, floor) if kind == "Job" else workload(kind, "web", size, floor)
    made["metadata"]["annotations"] = draw(objects.annotations()) | {names.ON_DEMAND: floor}
    if kind == "StatefulSet":
        made["spec"]["ordinals"] = {"start": draw(objects.INT32)}
    made["spec"]["minReadySeconds"] = draw(objects.INT32)
    digits = draw(st.sampled_from(["0", "7", "2147483647", "9" * 200]))
    bears: Document = {
        "labels": draw(objects.labels()),
        "annotations": draw(objects.annotations()),
        "terminationGracePeriodSeconds": draw(objects.INT64),
        "name": f"web-{digits}",
    }
    space = namespace(NAMESPACE, managed=True, floor=draw(objects.FLOORS))
    return [space, made], kind, bears


@settings(max_examples=30, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=reviews(), siblings=st.lists(objects.annotations(names.PLACED), max_size=2))
def test_a_review_has_a_ceiling(
    drawn: tuple[list[Document], str, Document], siblings: list[dict[str, str]]
) -> None:
    made, kind, bears = drawn
    scene = Placement()
    scene.cluster.apply(*made)
    owner = scene.read(kind, "web")
    for number, notes in enumerate(siblings):
        placed = {"labels": {names.CAPACITY: "on-demand"}, "annotations": notes}
        scene.cluster.server.create(pod(owner, name=f"sibling-{number}", **placed))
    with measured() as effort:
        assert scene.ask(pod(owner, **bears))["allowed"]
    assert effort.steps < STEPS
    assert effort.memory < MEMORY
    assert len(scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)) <= 1


@pytest.mark.parametrize("kind", ["ReplicaSet", "Job"])
def test_an_honest_floor_is_exact_beside_a_billion_replicas_that_a_quota_refuses(
    kind: str,
) -> None:
    scene = Controlled()
    quota: Document = resource("ResourceQuota", "small", "greedy", spec={"hard": {"pods": "5"}})
    scene.cluster.apply(namespace("greedy", managed=True), quota)
    scene.settle(1)
    made = workload(kind, "greedy", 10**9, "99%")
    made = job("greedy", 10**9, "99%") if kind == "Job" else made
    made["metadata"]["namespace"] = "greedy"
    with measured() as effort:
        scene.cluster.apply(made)
        scene.cluster.apply(workload("Deployment", "web", 40, "30%"))
        scene.settle(120)
    assert scene.landed() == {"on_demand": 12, "spot": 28}
    assert scene.recorder.total("PlacementsNotCounted") == 0
    greedy: list[Any] = scene.cluster.objects("Pod", "greedy")
    assert len(greedy) == 5
    assert {each["metadata"]["labels"][names.CAPACITY] for each in greedy} == {"on-demand"}
    assert effort.steps < 200_000
    assert effort.memory < 20_000_000


def test_pods_that_never_come_leave_no_more_claims_than_are_offered() -> None:
    scene = Placement()
    owner = scene.replica_set(10**9, "99%")
    for _ in range(270):
        scene.create(owner, refused=True, until_stored=0)
        scene.run()
        scene.clock.advance(timedelta(milliseconds=50))
    assert len(scene.claims()) <= 256
    assert scene.recorder.total("PlacementsNotCounted") == 0
