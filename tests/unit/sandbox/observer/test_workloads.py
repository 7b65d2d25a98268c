from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet, ReplicaSetStatus
from evenkeel.model.deployment import Deployment, DeploymentSpec
from evenkeel.model.meta import (
    Condition,
    KubernetesObject,
    LabelSelector,
    Metadata,
    OwnerReference,
    Reference,
)
from evenkeel.model.node import Node, NodeMetadata
from evenkeel.model.pod import Pod, PodSpec, PodStatus
from evenkeel.model.request import Change, Listing, Relisted, Selection
from evenkeel_sandbox.observer.health import Health
from evenkeel_sandbox.observer.workloads import EVERYTHING, Observer
from evenkeel_sandbox.simulator.clock import SimulatedClock

START = datetime(2026, 1, 1, tzinfo=UTC)
WEB = Reference(kind="Deployment", namespace="shop", name="web")
READY = Condition(type="Ready", status="True", last_transition_time=START)


def owned_by(kind: str, name: str, uid: str) -> tuple[OwnerReference, ...]:
    return (OwnerReference(kind=kind, name=name, uid=uid, controller=True),)


DEPLOYMENT = Deployment(
    metadata=Metadata(name="web", namespace="shop", uid="d"),
    spec=DeploymentSpec(replicas=2, selector=LabelSelector(match_labels={"app": "web"})),
)
REPLICA_SET = ReplicaSet(
    metadata=Metadata(
        name="web-1",
        namespace="shop",
        uid="rs",
        owner_references=owned_by("Deployment", "web", "d"),
    )
)


def pod(
    name: str,
    *conditions: Condition,
    node: str = "n1",
    labels: dict[str, str] | None = None,
    owned: bool = True,
    leaving: bool = False,
) -> Pod:
    return Pod(
        metadata=Metadata(
            name=name,
            namespace="shop",
            uid=name,
            labels={"app": "web"} | (labels or {}),
            owner_references=owned_by("ReplicaSet", "web-1", "rs") if owned else (),
            deletion_timestamp=START if leaving else None,
        ),
        spec=PodSpec(node_name=node),
        status=PodStatus(phase="Running", conditions=conditions),
    )


def listed(*objects: KubernetesObject) -> list[Relisted[KubernetesObject]]:
    return [
        Relisted(
            selection, Listing([item for item in objects if type(item) is selection.kind], "1")
        )
        for selection in EVERYTHING
    ]


def changed(item: KubernetesObject, *, deleted: bool = False) -> Change[KubernetesObject]:
    return Change(Selection(type(item)), item, deleted=deleted)


def observing(*objects: KubernetesObject) -> Observer:
    observer = Observer(SimulatedClock(START))
    observer.absorb(listed(*objects))
    assert observer.complete
    observer.begin()
    return observer


@pytest.fixture
def observer() -> Observer:
    return observing(
        DEPLOYMENT, REPLICA_SET, pod("a", READY), pod("b", READY, node="n2"), pod("c", node="n2")
    )


def web(observer: Observer) -> Health:
    return observer.workloads[WEB]


def test_ready_pods_are_counted_for_their_deployment(observer: Observer) -> None:
    assert (web(observer).wanted, web(observer).ready, web(observer).before) == (2, 2, 2)


def test_a_released_pod_still_counts_when_its_owner_has_let_it_go(observer: Observer) -> None:
    observer.absorb([changed(pod("a", READY, owned=False, labels={names.RELEASED_FROM: "1"}))])

    assert web(observer).lowest == 2


def test_a_released_pod_is_known_when_it_was_released_before_the_watch_began() -> None:
    observer = observing(
        DEPLOYMENT,
        REPLICA_SET,
        pod("a", READY, owned=False, labels={names.RELEASED_FROM: "1"}),
    )

    assert web(observer).ready == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(changed(pod("a", READY, leaving=True)), id="it is being deleted"),
        pytest.param(changed(pod("a")), id="it is not ready any more"),
        pytest.param(changed(pod("a", READY), deleted=True), id="it is gone"),
    ],
)
def test_the_lowest_count_falls_when_a_pod_stops_serving(
    observer: Observer, change: Change[KubernetesObject]
) -> None:
    observer.absorb([change, changed(pod("c", READY))])

    assert (web(observer).ready, web(observer).lowest) == (2, 1)


def test_the_lowest_count_holds_when_the_replacement_is_ready_first(observer: Observer) -> None:
    observer.absorb([changed(pod("c", READY)), changed(pod("a", READY, leaving=True))])

    assert (web(observer).ready, web(observer).lowest) == (2, 2)


def test_pods_serve_no_more_when_their_node_is_lost(observer: Observer) -> None:
    observer.lose("n1")

    assert web(observer).lowest == 1


def test_pods_serve_no_more_when_their_node_object_is_deleted() -> None:
    node = Node(metadata=NodeMetadata(name="n1", uid="n1"))
    observer = observing(node, DEPLOYMENT, REPLICA_SET, pod("a", READY))

    observer.absorb([changed(node, deleted=True)])

    assert web(observer).went_to_zero


@pytest.mark.parametrize(
    ("objects", "obstacle"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param(
            [
                pod(
                    "c",
                    Condition(
                        type="PodScheduled",
                        status="False",
                        reason="Unschedulable",
                        message="0/2 nodes are available",
                    ),
                    node="",
                )
            ],
            "no place for a replacement: 0/2 nodes are available",
            id="no node has room",
        ),
        pytest.param(
            [
                ReplicaSet(
                    metadata=REPLICA_SET.metadata,
                    status=ReplicaSetStatus(
                        conditions=(
                            Condition(
                                type="ReplicaFailure", status="True", message="exceeded quota"
                            ),
                        )
                    ),
                )
            ],
            "a replacement is refused: exceeded quota",
            id="the quota is used up",
        ),
    ],
)
def test_an_outage_names_what_kept_new_pods_from_running(
    objects: Sequence[KubernetesObject], obstacle: str
) -> None:
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a", READY))

    observer.absorb([*map(changed, objects), changed(pod("a", READY, leaving=True))])

    outage = web(observer).outage
    assert outage is not None
    assert outage.obstacle == obstacle


def test_a_workload_is_not_said_to_fall_when_it_never_had_a_ready_pod() -> None:
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a"))

    observer.absorb([changed(pod("a"), deleted=True)])

    assert not web(observer).went_to_zero


def test_a_workload_is_not_said_to_fall_when_it_is_scaled_to_zero() -> None:
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a", READY))
    unwanted = msgspec.structs.replace(DEPLOYMENT, spec=DeploymentSpec(replicas=0))

    observer.absorb([changed(unwanted), changed(pod("a", READY), deleted=True)])

    assert not web(observer).went_to_zero


def test_a_workload_is_not_said_to_fall_when_it_was_deleted() -> None:
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a", READY))

    observer.absorb([changed(DEPLOYMENT, deleted=True), changed(pod("a"), deleted=True)])

    assert (web(observer).gone, web(observer).went_to_zero) == (True, False)


def test_a_workload_counts_again_when_it_was_made_again() -> None:
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a", READY))

    observer.absorb([changed(DEPLOYMENT, deleted=True), changed(DEPLOYMENT)])
    observer.absorb([changed(pod("a"), deleted=True)])

    assert web(observer).went_to_zero


def test_pods_are_counted_again_when_a_watch_is_relisted(observer: Observer) -> None:
    relisted: Relisted[Pod] = Relisted(Selection(Pod), Listing([pod("b", READY)], "9"))

    observer.absorb([relisted])

    assert (web(observer).ready, web(observer).lowest) == (1, 1)


def test_a_pod_finds_its_workload_when_its_owner_is_seen_later() -> None:
    observer = observing(pod("a", READY))

    observer.absorb([changed(DEPLOYMENT), changed(REPLICA_SET)])

    assert web(observer).ready == 1


def test_a_pod_without_an_owner_is_a_workload_of_its_own() -> None:
    observer = observing(pod("shell", READY, owned=False))

    assert observer.workloads[Reference(kind="Pod", namespace="shop", name="shell")].ready == 1


def test_a_pod_counts_for_the_workload_that_adopts_it() -> None:
    """As one does whose owner a snapshot lacked, and that its ReplicaSet adopts later."""
    observer = observing(DEPLOYMENT, REPLICA_SET, pod("a", READY, owned=False))
    alone = Reference(kind="Pod", namespace="shop", name="a")
    assert observer.workloads[alone].ready == 1

    observer.absorb([changed(pod("a", READY))])

    assert web(observer).ready == 1
    assert observer.workloads[alone].ready == 0
    assert observer.workloads[alone].gone
    assert not observer.workloads[alone].went_to_zero


def test_pods_count_for_the_deployment_that_adopts_their_replica_set() -> None:
    own = msgspec.structs.replace(
        REPLICA_SET, metadata=Metadata(name="web-1", namespace="shop", uid="rs")
    )
    observer = observing(DEPLOYMENT, own, pod("a", READY))
    alone = Reference(kind="ReplicaSet", namespace="shop", name="web-1")
    assert observer.workloads[alone].ready == 1

    observer.absorb([changed(REPLICA_SET)])

    assert web(observer).ready == 1
    assert observer.workloads[alone].ready == 0
    assert observer.workloads[alone].gone
    assert not observer.workloads[alone].went_to_zero


def test_a_node_that_comes_later_under_a_lost_ones_name_is_another(observer: Observer) -> None:
    node = Node(metadata=NodeMetadata(name="n1", uid="first"))
    observer.absorb([changed(node)])
    observer.lose("n1")
    observer.absorb([changed(node, deleted=True)])
    assert web(observer).ready == 1

    observer.absorb([changed(node), changed(pod("later", READY))])

    assert web(observer).ready == 2
