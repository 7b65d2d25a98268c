"""A pod stays until what sends it requests knows its replacement, which is Ready after 2 s."""

from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.manifests import Manifest, balanced, deployment, resource, service
from tests.kit.scene import Scene

SERVICE = service("web")
BALANCER = balanced("web")


def ingress(**backend: Any) -> Manifest:
    """An Ingress that leads to the Service by a path, or as it is told."""
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web"}}}
    spec = backend or {"rules": [{"http": {"paths": [path]}}]}
    return resource("Ingress", "web", "default", spec=spec)


def told_at(scene: Scene, *manifests: Manifest, replicas: int = 1, **pod: Any) -> list[int]:
    """When the pods of s1, which is interrupted, are told to go; o1 has room all the time."""
    pods = scene.given(*manifests, deployment("web", replicas, pod=pod), settle=40)
    scene.add_node("o1", spot=False)
    scene.interrupt("s1")
    scene.run(until=150)
    assert scene.lowest("web") == replicas
    return sorted(int(scene.gone_at(each)) for each in pods)


def test_behind_nothing_it_goes_at_once(scene: Scene) -> None:
    (at,) = told_at(scene)
    assert at <= 4


def test_behind_a_service_the_proxies_have_a_moment(scene: Scene) -> None:
    (at,) = told_at(scene, SERVICE)
    assert 4 <= at <= 6


@pytest.mark.parametrize(
    "leading",
    [
        pytest.param((BALANCER,), id="of type LoadBalancer"),
        pytest.param((SERVICE, ingress()), id="an Ingress"),
        pytest.param(
            (SERVICE, ingress(defaultBackend={"service": {"name": "web"}})), id="its default"
        ),
    ],
)
def test_behind_a_balancer_it_stays_until_that_knows_the_next_one(
    scene: Scene, leading: tuple[Manifest, ...]
) -> None:
    (at,) = told_at(scene, *leading)
    assert 21 <= at <= 24
    assert scene.told("ReplacementSettles")


def test_an_ingress_of_another_service_counts_for_nothing(scene: Scene) -> None:
    (at,) = told_at(scene, SERVICE, ingress(defaultBackend={"service": {"name": "other"}}))
    assert at <= 6


@pytest.mark.parametrize(("said", "earliest"), [("0s", 2), ("40s", 41), ("soon", 21)])
def test_its_owner_says_how_long(scene: Scene, said: str, earliest: int) -> None:
    (at,) = told_at(scene, BALANCER, annotations={names.SETTLE: said})
    assert earliest <= at <= earliest + 3


def test_each_of_several_stays(scene: Scene) -> None:
    at = told_at(scene, BALANCER, replicas=3)
    assert all(21 <= each <= 24 for each in at)


def test_no_longer_than_its_node_allows(scene: Scene) -> None:
    """Its grace period of 30 s has to fit."""
    (at,) = told_at(scene, BALANCER, annotations={names.SETTLE: "10m"})
    assert 80 <= at <= 86
