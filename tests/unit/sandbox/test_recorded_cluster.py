"""A snapshot is read as a cluster in which nothing happens."""

from functools import partial
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, List, Request, Selection
from evenkeel_cli.snapshot import KINDS
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.recorded_cluster import RecordedCluster
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW

select = partial(Selection[Any])

REQUESTS: dict[str, Request] = {
    **{f"all {kind.resource.plural}": List(select(kind)) for kind in KINDS.values()},
    "pods of a namespace": List(select(Pod, namespace="shop")),
    "pods by label": List(select(Pod, labels="app in (web,api)")),
    "pods of a node": List(select(Pod, fields="spec.nodeName=ip-10-0-0-11")),
    "metadata": List(select(Node), metadata_only=True),
    "some": List(select(Node), limit=7),
    "the first that are kept": List(
        select(Pod), limit=10, kept=lambda pod: pod if pod.namespace == "tenant" else None
    ),
    "a workload": Get(Deployment, "web", "shop"),
    "a namespace": Get(Namespace, "shop"),
}


@pytest.fixture(scope="module")
def simulated() -> SimulatedCluster:
    return built_in.build(SimulatedClock(NOW))


@pytest.fixture(scope="module")
def recorded(simulated: SimulatedCluster) -> RecordedCluster:
    return RecordedCluster([item for kind in KINDS for item in simulated.objects(kind)])


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_it_answers_as_the_cluster_did(
    simulated: SimulatedCluster, recorded: RecordedCluster, request_: Request
) -> None:
    (wanted,), (found,) = simulated.perform([request_]), recorded.perform([request_])

    assert getattr(found.result, "items", found.result) == getattr(
        wanted.result, "items", wanted.result
    )


def test_what_is_not_there_is_not_found(recorded: RecordedCluster) -> None:
    (reply,) = recorded.perform([Get(ReplicaSet, "none", "shop")])
    assert isinstance(reply.error, NotFoundError)


def test_the_namespaces_of_its_objects_are_there_also_if_none_was_recorded() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "shop"}}
    (reply,) = RecordedCluster([pod]).perform([Get(Namespace, "shop")])
    assert reply.error is None


def test_nothing_can_be_changed_or_watched(recorded: RecordedCluster) -> None:
    (reply,) = recorded.perform([Evict("web-1", "shop", uid="1")])
    assert isinstance(reply.error, ForbiddenError)
    with pytest.raises(ForbiddenError, match="nothing happens in a snapshot"):
        recorded.session()
