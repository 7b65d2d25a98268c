"""Which pods are left as they are, and why."""

from typing import Any

import pytest

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.placement.scope import (
    controller_kind,
    left_by_itself,
    left_by_namespace,
    left_to_scheduler,
)
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.job import Job
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.floor import NONE
from evenkeel.model.meta import Metadata, OwnerReference
from tests.kit.builders import foreign_owner, job, replica_set, stateful_set
from tests.unit.decisions.placement.pods import KEYS, clause, new_pod, read, required, term

ASKED = FloorOf(NONE, Source.WORKLOAD)
BY_DEFAULT = FloorOf(NONE, Source.DEFAULT)

ON_N1 = {"matchFields": [clause("metadata.name", "In", "n1")]}
"""What whoever makes a pod for each node asks of it."""


def owned_by(reference: OwnerReference, **fields: Any) -> Any:
    owner = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
        "controller": True,
    }
    metadata = {"generateName": "x-", "ownerReferences": [owner], **fields}
    return read({"metadata": metadata, "spec": {}})


@pytest.mark.parametrize("owner", [replica_set(), stateful_set(), job()])
def test_pods_of_known_controllers_are_not_left(owner: ReplicaSet | StatefulSet | Job) -> None:
    pod = new_pod(owner)
    assert left_by_itself(pod, "shop", WELL_KNOWN) is None
    assert controller_kind(pod) is type(owner)


@pytest.mark.parametrize(
    "pod",
    [
        new_pod(),
        owned_by(foreign_owner("Workflow")),
        owned_by(foreign_owner("ReplicaSet", "example.com/v1")),
    ],
)
def test_pods_are_not_left_for_an_owner_whose_size_is_not_known(pod: Any) -> None:
    assert left_by_itself(pod, "shop", WELL_KNOWN) is None
    assert controller_kind(pod) is None


@pytest.mark.parametrize(
    ("pod", "namespace", "reason"),
    [
        (new_pod(replica_set()), "kube-system", "SystemNamespace"),
        (new_pod(replica_set()), "evenkeel-system", "SystemNamespace"),
        (new_pod(annotations={"kubernetes.io/config.mirror": "x"}), "shop", "StaticPod"),
        (owned_by(foreign_owner("Node", "v1")), "shop", "StaticPod"),
        (new_pod(replica_set(), nodeName="n1"), "shop", "HasNode"),
        (owned_by(foreign_owner("DaemonSet", "apps/v1")), "shop", "DaemonSet"),
        (owned_by(foreign_owner("DaemonSet", "apps.kruise.io/v1")), "shop", "DaemonSet"),
        (new_pod(affinity=required(ON_N1)), "shop", "OwnRules"),
        (new_pod(nodeSelector={"kubernetes.io/hostname": "n1"}), "shop", "OwnRules"),
        (new_pod(replica_set(), nodeSelector={KEYS[0]: "spot"}), "shop", "OwnRules"),
        (
            new_pod(replica_set(), affinity=required(term(clause(KEYS[0], "NotIn", "spot")))),
            "shop",
            "OwnRules",
        ),
        (new_pod(replica_set(), affinity=required({})), "shop", "OwnRules"),
    ],
)
def test_a_pod_is_left_when(pod: Any, namespace: str, reason: str) -> None:
    left = left_by_itself(pod, namespace, WELL_KNOWN)
    assert left is not None
    assert left.reason == reason
    assert left.message


def test_a_namespace_takes_part_by_its_label_or_when_all_do() -> None:
    managed = Namespace(metadata=Metadata(name="a", labels={"evenkeel.dev/managed": "true"}))
    other = Namespace(metadata=Metadata(name="b", labels={"evenkeel.dev/managed": "yes"}))
    assert left_by_namespace(managed, everywhere=False) is None
    assert left_by_namespace(other, everywhere=True) is None
    left = left_by_namespace(other, everywhere=False)
    assert left is not None
    assert left.reason == "NotManaged"


@pytest.mark.parametrize("scheduler", ["", "default-scheduler", "evenkeel"])
def test_schedulers_that_go_by_node_affinity_are_asked(scheduler: str) -> None:
    assert left_to_scheduler(scheduler, BY_DEFAULT, in_gang=False) is None


def test_another_scheduler_is_asked_for_a_floor_that_is_set_and_for_a_gang() -> None:
    assert left_to_scheduler("packer", ASKED, in_gang=False) is None
    assert left_to_scheduler("packer", BY_DEFAULT, in_gang=True) is None
    left = left_to_scheduler("packer", BY_DEFAULT, in_gang=False)
    assert left is not None
    assert left.reason == "OtherScheduler"
    assert "packer" in left.message


def test_fargates_is_not_asked_for_anything() -> None:
    left = left_to_scheduler("fargate-scheduler", ASKED, in_gang=True)
    assert left is not None
    assert left.reason == "OtherScheduler"
