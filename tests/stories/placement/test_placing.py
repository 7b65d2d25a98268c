"""One pod after the other: what becomes of each kind, of dry runs, pauses and reinvocations."""

import json
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, UnavailableError
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.decision import Verb
from evenkeel.model.gang import SET_NAME, PodGroup
from evenkeel.model.node import Node
from evenkeel.model.request import List
from evenkeel.settings import Mode
from evenkeel.settings.placement import LONGEST_COUNTING
from tests.kit.asking import asks, failing, noting
from tests.kit.builders import placed_as
from tests.kit.lws import leader_worker_set
from tests.kit.manifests import PAUSED, resource
from tests.stories.placement.scene import (
    NAMESPACE,
    Placement,
    apply_patch,
    namespace,
    pod,
    workload,
)


@pytest.fixture
def scene() -> Placement:
    return Placement()


def capacity(asked: dict[str, Any], response: dict[str, Any]) -> str:
    labels: dict[str, str] = apply_patch(asked, response)["metadata"]["labels"]
    return labels.get(names.CAPACITY, "none")


def interruptible(name: str, value: str = "true") -> dict[str, Any]:
    """A node in a Capacity Reservation, as Karpenter labels it."""
    labels = {names.CAPACITY_LABELS[2]: "reserved", names.INTERRUPTIBLE: value}
    return resource("Node", name, labels=labels)


def asked_of_nodes(scene: Placement, asked: dict[str, Any]) -> dict[str, list[str]]:
    """Operator and values that a pod is given about interruptible reservations, by the operator."""
    affinity = apply_patch(asked, scene.ask(asked))["spec"]["affinity"]["nodeAffinity"]
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution", [])
    terms = [*required.get("nodeSelectorTerms", []), *(each["preference"] for each in preferred)]
    clauses = [clause for term in terms for clause in term["matchExpressions"]]
    return {c["operator"]: c["values"] for c in clauses if c["key"] == names.INTERRUPTIBLE}


def test_a_floor_keeps_off_lent_reservations_and_other_pods_like_them(scene: Placement) -> None:
    floor, other = pod(scene.replica_set(2, "1")), pod(scene.replica_set(1, name="free"))
    scene.cluster.apply(interruptible("lent"))
    scene.clock.advance(timedelta(seconds=1))

    assert asked_of_nodes(scene, floor) == {"NotIn": ["true"]}
    assert asked_of_nodes(scene, other) == {"In": ["true"]}


@pytest.mark.parametrize("value", ["", "false"])
def test_pods_are_not_told_of_interruptible_reservations_where_there_is_no_such_node(
    scene: Placement, value: str
) -> None:
    """Older versions of Karpenter make no node for a pod that requires anything of the label."""
    floor, other = pod(scene.replica_set(2, "1")), pod(scene.replica_set(1, name="free"))
    if value:
        scene.cluster.apply(interruptible("kept", value))

    assert asked_of_nodes(scene, floor) == asked_of_nodes(scene, other) == {}


def test_such_a_node_is_known_a_second_after_it_came(scene: Placement) -> None:
    floor = pod(scene.replica_set(2, "2"))
    assert asked_of_nodes(scene, floor) == {}
    scene.cluster.apply(interruptible("lent"))
    scene.clock.advance(timedelta(seconds=1))

    assert asked_of_nodes(scene, floor) == {"NotIn": ["true"]}


def test_a_floor_keeps_off_nodes_whose_label_says_neither_type() -> None:
    scene = Placement(capacity_labels=CapacityLabels(("lifecycle",)))
    for name, value in (("a", "Ec2Spot"), ("b", "OnDemand"), ("c", "spot")):
        scene.cluster.apply(resource("Node", name, labels={"lifecycle": value}))
    scene.clock.advance(timedelta(seconds=1))
    floor = pod(scene.replica_set(2, "1"))
    affinity = apply_patch(floor, scene.ask(floor))["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    never = {value for clause in term["matchExpressions"] for value in clause["values"]}
    assert never == {"spot", "SPOT", "Spot", "Ec2Spot"}
    assert {clause["operator"] for clause in term["matchExpressions"]} == {"NotIn"}


def test_pods_are_placed_without_the_right_to_list_nodes(scene: Placement) -> None:
    floor = pod(scene.replica_set(2, "1"))
    scene.cluster.apply(interruptible("lent"))
    failing(scene.cluster, ForbiddenError("no nodes for you"), asks(List, of=Node))

    assert asked_of_nodes(scene, floor) == {}


def place(scene: Placement, asked: dict[str, Any], **request: Any) -> str:
    return capacity(asked, scene.ask(asked, **request))


def test_pods_ask_by_the_labels_that_the_settings_name() -> None:
    scene = Placement(capacity_labels=CapacityLabels(("lifecycle",)))
    owner, free = scene.replica_set(2, "1"), scene.replica_set(2, name="free")
    floor, other, chosen = pod(owner), pod(free), pod(free, nodeSelector={"lifecycle": "spot"})
    asked = apply_patch(floor, scene.ask(floor))["spec"]["affinity"]["nodeAffinity"]
    (term,) = asked["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [clause["key"] for clause in term["matchExpressions"]] == ["lifecycle"]
    asked = apply_patch(other, scene.ask(other))["spec"]
    assert {each["key"] for each in asked["tolerations"]} == {"lifecycle"}
    assert place(scene, chosen) == "none"
    assert last_reason(scene) == "OwnRules"


def last_reason(scene: Placement) -> str:
    return scene.recorder.decisions[-1].reason


def test_a_deployments_floor_is_its_own_and_not_its_replica_sets(scene: Placement) -> None:
    deployment = workload("Deployment", "shop", 4, "1")
    scene.cluster.apply(deployment)
    uid = scene.read("Deployment", "shop")["metadata"]["uid"]
    part = workload("ReplicaSet", "shop-1", 4)
    part["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "shop",
            "uid": uid,
            "controller": True,
        }
    ]
    scene.cluster.apply(part)
    asked = pod(scene.read("ReplicaSet", "shop-1"))
    assert place(scene, asked) == "on-demand"
    decision = scene.recorder.decisions[-1]
    assert decision.verb is Verb.PLACE
    assert str(decision.workload) == "deployment shop/shop"


@pytest.mark.parametrize(("floor", "policy"), [("all", "Ignore"), ("none", None)])
def test_a_soft_spread_of_a_pod_of_a_floor_counts_pods_on_spot(
    scene: Placement, floor: str, policy: str | None
) -> None:
    soft = {"maxSkew": 1, "topologyKey": names.ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    asked = pod(scene.replica_set(2, floor), topologySpreadConstraints=[soft])
    (found,) = apply_patch(asked, scene.ask(asked))["spec"]["topologySpreadConstraints"]
    assert found.get("nodeAffinityPolicy") == policy


def test_a_stateful_sets_pod_is_placed_by_its_ordinal(scene: Placement) -> None:
    scene.cluster.apply(workload("StatefulSet", "db", 3, serviceName="db"))
    owner = scene.read("StatefulSet", "db")
    placed = [
        place(scene, pod(owner, name=f"db-{i}", labels={names.POD_INDEX: str(i)})) for i in range(3)
    ]
    assert placed == ["on-demand", "on-demand", "spot"]
    assert scene.claims() == []


def test_the_namespaces_floor_counts(scene: Placement) -> None:
    scene.cluster.apply(namespace(NAMESPACE, managed=True, floor="all"))
    assert place(scene, pod(scene.replica_set(3))) == "on-demand"


OTHERS_KINDS = [
    ("ray.io/v1", "RayCluster"),
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
    ("v1", "Pod"),  # a Spark driver owns its executors
    ("postgresql.cnpg.io/v1", "Cluster"),
    ("core.strimzi.io/v1beta2", "StrimziPodSet"),
    ("apps.kruise.io/v1beta1", "StatefulSet"),
]


@pytest.mark.parametrize(("version", "kind"), OTHERS_KINDS)
@pytest.mark.parametrize(
    ("floor", "expected"), [("all", "on-demand"), ("none", "spot"), ("majority", "none")]
)
def test_all_and_none_of_a_namespace_place_pods_of_other_operators(
    scene: Placement, version: str, kind: str, floor: str, expected: str
) -> None:
    scene.cluster.apply(namespace(NAMESPACE, managed=True, floor=floor))
    owner = scene.replica_set(3, name="own") | {"apiVersion": version, "kind": kind}
    asked = pod(owner, name="own-1")
    assert place(scene, asked) == expected
    decision = scene.recorder.decisions[-1]
    assert decision.workload is not None
    assert decision.workload.name == "own"
    assert place(scene, apply_patch(asked, scene.ask(asked))) == expected, "once more, as patched"


@pytest.mark.parametrize(("floor", "expected"), [("all", "on-demand"), ("none", "spot")])
def test_all_and_none_of_a_namespace_place_bare_pods(
    scene: Placement, floor: str, expected: str
) -> None:
    scene.cluster.apply(namespace(NAMESPACE, managed=True, floor=floor))
    asked = pod(scene.replica_set(1), name="debug")
    del asked["metadata"]["ownerReferences"]
    assert place(scene, asked) == expected


@pytest.mark.parametrize(
    ("scheduler", "floor", "expected"),
    [
        ("packer", "", "none"),
        ("packer", "all", "on-demand"),
        ("packer", "none", "spot"),
        ("fargate-scheduler", "all", "none"),
        ("default-scheduler", "", "spot"),
    ],
)
def test_pods_of_another_scheduler_are_placed_where_a_floor_is_asked_for(
    scene: Placement, scheduler: str, floor: str, expected: str
) -> None:
    """And those of Fargate nowhere."""
    assert place(scene, pod(scene.replica_set(3, floor), schedulerName=scheduler)) == expected
    if expected == "none":
        assert last_reason(scene) == "OtherScheduler"


def test_so_are_pods_of_which_no_size_is_known(scene: Placement) -> None:
    scene.cluster.apply(namespace(NAMESPACE, managed=True, floor="all"))
    owner = {**scene.replica_set(1), "apiVersion": "ray.io/v1", "kind": "RayCluster"}
    assert place(scene, pod(owner, schedulerName="packer")) == "on-demand"
    assert place(scene, pod(owner, schedulerName="fargate-scheduler")) == "none"


def test_another_namespace_is_left_alone_unless_all_take_part() -> None:
    for everywhere, expected in ((False, "none"), (True, "on-demand")):
        scene = Placement(everywhere=everywhere)
        scene.cluster.apply(
            {
                **namespace(NAMESPACE),
                "metadata": {"name": NAMESPACE, "labels": {names.MANAGED: "false"}},
            }
        )
        assert place(scene, pod(scene.replica_set(3, "all"))) == expected


def test_a_pod_of_an_unknown_controller_is_left(scene: Placement) -> None:
    owner = scene.replica_set(3, "all")
    gone = {**owner, "metadata": {**owner["metadata"], "uid": "another"}}
    assert place(scene, pod(gone)) == "none"
    assert last_reason(scene) == "OwnerGone"
    missing = {**owner, "metadata": {**owner["metadata"], "name": "gone"}}
    assert place(scene, pod(missing)) == "none"


def test_a_pod_that_places_itself_is_left_with_the_reason(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "all"), nodeSelector={"karpenter.sh/capacity-type": "spot"})
    assert place(scene, asked) == "none"
    decision = scene.recorder.decisions[-1]
    assert (decision.verb, decision.reason) == (Verb.LEAVE, "OwnRules")


def test_nothing_is_placed_while_evenkeel_is_paused(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "all"))
    scene.cluster.apply(PAUSED)
    assert place(scene, asked) == "none"
    assert last_reason(scene) == "Paused"


def test_a_dry_run_is_answered_and_counts_nothing(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "1"))
    for _ in range(3):
        assert place(scene, asked, dryRun=True) == "on-demand"
    assert scene.claims() == []


def test_a_dry_run_tells_what_was_decided_and_nothing_else_does(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "1"))
    told = scene.ask(asked, dryRun=True)["warnings"]
    assert [text.partition(":")[0] for text in told] == ["evenkeel to on-demand"]
    assert "warnings" not in scene.ask(asked)
    scene.cluster.apply(PAUSED)
    scene.clock.advance(LONGEST_COUNTING)
    told = scene.ask(asked, dryRun=True)["warnings"]
    assert told == ["evenkeel leaves this pod as it is: Evenkeel is paused"]
    failing(scene.cluster, UnavailableError("nobody answers"))
    told = scene.ask(asked, dryRun=True)["warnings"]
    assert told == ["evenkeel did not place this pod (nobody answers)"]


def test_observing_patches_nothing_claims_nothing_and_says_so() -> None:
    scene = Placement(mode=Mode.OBSERVE)
    asked = pod(scene.replica_set(3, "1"))
    (told,) = scene.ask(asked, dryRun=True)["warnings"]
    assert told.startswith("evenkeel only observes: to on-demand: ")
    assert "patch" not in scene.ask(asked)
    assert scene.claims() == []
    assert last_reason(scene) == "InFloor"


def test_a_reinvocation_mends_what_others_removed_and_claims_no_more(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "2"))
    once = apply_patch(asked, scene.ask(asked, uid="first"))
    assert "patch" not in scene.ask(once, uid="second")
    del once["spec"]["affinity"]
    twice = apply_patch(once, scene.ask(once, uid="third"))
    assert "nodeAffinity" in twice["spec"]["affinity"]
    assert len(scene.claims()) == 1


def test_the_same_review_again_keeps_its_claim(scene: Placement) -> None:
    asked = pod(scene.replica_set(3, "1"))
    assert place(scene, asked, uid="same") == "on-demand"
    assert place(scene, asked, uid="same") == "on-demand"
    (claim,) = scene.claims()
    assert claim["spec"]["holderIdentity"] == "same"


def test_a_note_from_a_copied_template_is_not_believed(scene: Placement) -> None:
    old = placed_as(Capacity.SPOT, scene.clock.now().replace(year=2025))
    note = {names.PLACED: old.encode()}
    assert place(scene, pod(scene.replica_set(3, "all"), annotations=note)) == "on-demand"


def test_a_relaxed_floor_goes_to_spot_until_then(scene: Placement) -> None:
    for year, expected in ((2030, "spot"), (2020, "on-demand")):
        relaxed = json.dumps({"v": 1, "until": f"{year}-01-01T00:00:00Z"})
        manifest = workload("ReplicaSet", f"web-{year}", 3, "all")
        manifest["metadata"]["annotations"][names.FLOOR_RELAXED] = relaxed
        scene.cluster.apply(manifest)
        assert place(scene, pod(scene.read("ReplicaSet", f"web-{year}"))) == expected


@pytest.mark.parametrize("text", ["x", "{}", '{"v":1,"until":"2030-01-01T00:00:00"}'])
def test_a_relaxation_that_makes_no_sense_relaxes_nothing(scene: Placement, text: str) -> None:
    manifest = workload("ReplicaSet", "web", 3, "all")
    manifest["metadata"]["annotations"][names.FLOOR_RELAXED] = text
    scene.cluster.apply(manifest)
    assert place(scene, pod(scene.read("ReplicaSet", "web"))) == "on-demand"


def test_a_floor_that_cannot_be_read_is_told_once_in_a_while(scene: Placement) -> None:
    owner = scene.replica_set(3, "some")
    assert place(scene, pod(owner)) == "on-demand"
    place(scene, pod(owner))
    (warning,) = [each for each in scene.recorder.decisions if each.warning]
    assert warning.reason == "BadFloor"
    assert str(warning.subject) == "replicaset shop/web"
    assert "'some'" in warning.message


def test_what_is_read_of_namespaces_is_remembered_for_a_second(scene: Placement) -> None:
    asked = pod(scene.replica_set(3))
    scene.ask(asked)
    requests = noting(scene.cluster)
    scene.ask(asked)
    assert [request.kind.__name__ for request in requests] == ["ReplicaSet", "Lease"]
    scene.clock.advance(LONGEST_COUNTING)
    scene.ask(asked)
    assert len(requests) == 9


def in_group(owner: dict[str, Any], name: str = "train") -> dict[str, Any]:
    """A pod that names a group of Kubernetes' own."""
    return pod(owner, schedulingGroup={"podGroupName": name})


def grouped(policy: dict[str, Any], name: str = "train") -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    spec = {"schedulingPolicy": policy}
    api = "scheduling.k8s.io/v1beta1"
    return {"apiVersion": api, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def test_the_pods_of_a_gang_go_where_its_floor_wants_any(scene: Placement) -> None:
    owner = scene.replica_set(4, "1")
    scene.cluster.apply(grouped({"gang": {"minCount": 4}}))
    assert place(scene, in_group(owner)) == "on-demand"
    assert last_reason(scene) == "AllInFloor"


def test_the_pods_of_a_group_with_the_basic_policy_are_counted(scene: Placement) -> None:
    owner = scene.replica_set(4, "1")
    scene.cluster.apply(grouped({"basic": {}}), grouped({"gang": {"minCount": 4}}, "other"))
    assert place(scene, in_group(owner)) == "on-demand"
    assert last_reason(scene) == "InFloor"


@pytest.mark.parametrize(("size", "expected"), [(2, "spot"), (1, "on-demand")])
def test_a_group_of_a_leader_worker_set_has_no_default_floor_unless_it_is_one_pod(
    scene: Placement, size: int, expected: str
) -> None:
    """A StatefulSet makes the leaders: by default a majority of them is on-demand."""
    scene.cluster.apply(
        leader_worker_set("llm", 3, size, namespace=NAMESPACE),
        workload("StatefulSet", "llm", 3, serviceName="llm"),
    )
    labels = {SET_NAME: "llm", names.POD_INDEX: "0"}
    leader = pod(scene.read("StatefulSet", "llm"), name="llm-0", labels=labels)
    assert place(scene, leader) == expected


@pytest.mark.parametrize("error", [ForbiddenError("no"), UnavailableError("silence")])
def test_a_group_that_cannot_be_read_is_a_gang(scene: Placement, error: ClusterError) -> None:
    owner = scene.replica_set(4, "1")
    scene.cluster.apply(grouped({"basic": {}}))
    failing(scene.cluster, error, asks(List, of=PodGroup))
    assert place(scene, in_group(owner)) == "on-demand"
    assert last_reason(scene) == "AllInFloor"


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({}, "InFloor"),
        # A label may say what no object can be called.
        ({"scheduling.x-k8s.io/pod-group": "Train_1"}, "AllInFloor"),
        # What a pod says is not validated yet when the webhook is asked.
        ({"scheduling.x-k8s.io/pod-group": "x" * 100_000}, "AllInFloor"),
        ({"scheduling.x-k8s.io/pod-group": "a,metadata.namespace=other"}, "AllInFloor"),
    ],
)
def test_a_group_that_cannot_be_there_is_not_read(
    scene: Placement, labels: dict[str, str], reason: str
) -> None:
    owner = scene.replica_set(4, "1")
    asked = noting(scene.cluster, asks(List))
    place(scene, pod(owner, labels=labels))
    assert last_reason(scene) == reason
    assert not [each for each in asked if issubclass(each.selection.kind, PodGroup)]


@pytest.mark.parametrize(
    ("manifest", "bears"),
    [
        (workload("ReplicaSet", "web", 1, "none"), True),
        (workload("StatefulSet", "web", 1, "none"), True),
        (workload("ReplicaSet", "web", 2, "none"), False),
        (workload("Job", "web", 1, "none", parallelism=1), False),
    ],
    ids=["a ReplicaSet's", "a StatefulSet's", "not one of two", "not a Job's"],
)
def test_reserved_headroom_is_for_the_only_replica(
    scene: Placement, manifest: dict[str, Any], *, bears: bool
) -> None:
    scene.cluster.apply(manifest)
    asked = pod(scene.read(manifest["kind"], "web"), name="web-0")
    placed = apply_patch(asked, scene.ask(asked))
    assert placed["metadata"]["labels"][names.CAPACITY] == "spot"
    keys = {each["key"] for each in placed["spec"]["tolerations"]}
    assert (names.HEADROOM in keys) is bears
