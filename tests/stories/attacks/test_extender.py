"""Attacks on the extender, by a tenant whose pods the scheduler asks about, and with the token."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from tests.kit import builders
from tests.unit.extender.scene import Scheduling, waiting

ALL = ("s1", "o1")
MANAGED = {names.MANAGED: "true"}
TENANT = Namespace(metadata=builders.metadata("tenant", namespace="", labels=MANAGED))


@pytest.fixture
def seen() -> Scheduling:
    """A node of each capacity type, and a namespace of the tenant's beside an honest one."""
    found = Scheduling()
    found.show(TENANT)
    found.nodes("s1")
    found.nodes("o1", spot=False)
    return found


def made_up(number: int) -> dict[str, Any]:
    """A pod that was made just now, of a controller that never was."""
    owner = builders.replica_set(f"made-up-{number}", namespace="tenant", uid=f"no-{number}")
    return waiting(owner, f"made-up-{number}", "tenant")


def test_a_hundred_made_up_controllers_keep_the_scheduler_waiting_once(seen: Scheduling) -> None:
    for number in range(100):
        assert "controller" in seen.filter(made_up(number), *ALL)["Error"]
        assert seen.scores(made_up(number), *ALL) == {}
    assert seen.waited == timedelta(seconds=0.5)

    above = builders.deployment(annotations={names.ON_DEMAND: "all"}, namespace="shop")
    owner = builders.replica_set(of=above, namespace="shop")
    seen.waiting.meanwhile.append(lambda: seen.show(above, owner))
    assert seen.left(waiting(owner), *ALL) == ["o1"], "another namespace's pod is waited for"


def test_pods_that_are_deleted_while_they_wait_keep_the_scheduler_waiting_once(
    seen: Scheduling,
) -> None:
    """A finalizer keeps them. Watches show that they leave before the scheduler's own does."""
    floor = {names.ON_DEMAND: "50%"}
    above = builders.deployment(annotations=floor, namespace="tenant", replicas=100)
    owner = builders.replica_set(of=above, namespace="tenant", replicas=100)
    seen.show(above, owner)
    seen.shows_pods = False
    for number in range(100):
        name = f"web-{number}"
        seen.show(builders.pod(name, of=owner, node="", leaving=True, namespace="tenant"))
        pod = waiting(owner, name, "tenant")
        assert "the pod was not shown" in seen.filter(pod, *ALL)["Error"]
    assert seen.waited == timedelta(seconds=0.5)


def test_pods_that_the_api_server_does_not_have_fill_no_floor(seen: Scheduling) -> None:
    above = builders.deployment(annotations={names.ON_DEMAND: "1"}, namespace="shop")
    owner = builders.replica_set(of=above, namespace="shop", replicas=4)
    seen.show(above, owner)
    seen.shows_pods = False
    for number in range(10):
        assert "NodeNames" not in seen.filter(waiting(owner, f"made-up-{number}"), *ALL)
    seen.shows_pods = True
    assert seen.left(waiting(owner, "web-1"), *ALL) == ["o1"]
