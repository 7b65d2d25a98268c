"""``evenkeel status``: the split of every workload, for people and for programs."""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.drain import writes
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel.model.release import Asked, ReleaseReason
from evenkeel.model.request import List, Selection
from evenkeel.model.template import new_trace
from evenkeel_cli import namespaces, snapshot
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.placement_policy import policy
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source
from evenkeel_cli.status.gather import elsewhere, gather
from evenkeel_cli.status.listing import (
    WorkloadStatus,
    WorkloadStatusList,
    listing,
)
from evenkeel_cli.words import workload_name
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit import builders
from tests.kit.asking import asks, failing, noting
from tests.kit.builders import LONG_AGO, NOW, seconds
from tests.kit.manifests import MAJORITY, deployment, resource, stateful_set
from tests.kit.reviews import away
from tests.kit.scene import Scene
from tests.unit.cli.running import run

status = partial(run, "status")


def told(*arguments: str) -> dict[str, dict[str, Any]]:
    items = json.loads(status(*arguments, "-o", "json").stdout)["items"]
    return {workload_name(msgspec.convert(item["subject"], Reference)): item for item in items}


def standing(cluster: SimulatedCluster) -> dict[str, WorkloadStatus]:
    return {each.subject.name: each for each in listing(gather(cluster)).items}


def reasons(item: WorkloadStatus) -> list[str]:
    return [remark.reason for remark in item.remarks]


def test_the_built_in_cluster_is_made_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests share one."""
    monkeypatch.setattr("evenkeel_cli.reading.built_in_cluster", built_in)
    before = SystemClock().now()
    with reading(Source(built_in=True)) as cluster:
        pods = ask(cluster, List(Selection(Pod))).items
    made = [pod.metadata.creation_timestamp or LONG_AGO for pod in pods]
    assert min(made) >= before - seconds(1)


def test_every_deployment_and_stateful_set_has_a_row() -> None:
    rows = told("--built-in")
    floor = {"replicas": 2, "policy": "majority", "source": "workload"}
    assert rows["data/sts/postgres"]["floor"] == floor
    assert rows["data/sts/postgres"]["survivors"] == 2
    assert rows["data/sts/postgres"]["survivorsOfPool"] == 2
    assert rows["shop/deploy/web"]["floor"]["policy"] == "20%"
    assert rows["shop/deploy/web"]["floor"]["replicas"] == 20
    assert (rows["shop/deploy/web"]["onDemand"], rows["shop/deploy/web"]["spot"]) == (20, 76)
    assert rows["shop/deploy/web"]["ok"]
    assert rows["shop/deploy/web"]["remarks"] == []
    assert not any("/job/" in name or "/ds/" in name for name in rows)


def test_a_namespace_is_enough() -> None:
    assert {name.partition("/")[0] for name in told("--built-in", "-n", "data")} == {"data"}
    assert status("--built-in", "-A", "-n", "data").exit_code == 2


@pytest.mark.parametrize("more", [(), ("--cost",)])
def test_what_is_elsewhere_is_said(more: tuple[str, ...]) -> None:
    told = "-A shows 11 more workloads, of 4 other namespaces (kube-system, ml, shop, tenant)."
    assert status("--built-in", "-n", "data", *more).stdout.splitlines()[-1] == told
    assert "-A shows" not in status("--built-in", *more).stdout
    nothing = status("--built-in", "-n", "ops", *more).stdout
    assert "-A shows 14 more workloads, of 5 other namespaces (data, " in nothing


def test_who_may_read_one_namespace_alone_is_told_of_no_other(cluster: SimulatedCluster) -> None:
    failing(cluster, ForbiddenError("no"), asks(List, selection=Selection(Deployment)))
    assert elsewhere(cluster, "default") == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("status", "--cost"),
        ("restore",),
        ("explain", "deploy/web"),
        ("replay", "--sample", "interruption-warning-terminate"),
    ],
    ids=" ".join,
)
def test_a_namespace_that_is_not_there_is_bad_input(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, "--built-in", "-n", "shp")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: there is no namespace shp: did you mean shop?\n"


@pytest.mark.parametrize("name", ["UPPER", "..", "nothing-like-it"])
def test_where_no_namespace_is_called_alike_kubectl_lists_them(
    cluster: SimulatedCluster, name: str
) -> None:
    with pytest.raises(BadInputError, match=f"no namespace {name}: kubectl get namespaces lists"):
        namespaces.check(cluster, name)


def test_a_namespace_that_may_not_be_read_counts_as_there(cluster: SimulatedCluster) -> None:
    failing(cluster, ForbiddenError("no"), asks(of=Namespace))
    namespaces.check(cluster, "shp")


def test_who_may_not_list_namespaces_still_learns_that_one_is_not_there(
    cluster: SimulatedCluster,
) -> None:
    failing(cluster, ForbiddenError("no"), asks(List, of=Namespace))
    with pytest.raises(BadInputError, match="there is no namespace shp: kubectl get namespaces"):
        namespaces.check(cluster, "shp")


def test_the_wide_table_has_what_is_left_without_the_worst_pool() -> None:
    assert "SURVIVE-POOL" in status("--built-in", "-n", "data", "-o", "wide").stdout


@pytest.fixture
def unmanaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenkeel_sandbox.built_in.workloads.MANAGED", frozenset())


@pytest.mark.usefixtures("unmanaged")
def test_floors_of_namespaces_that_are_not_managed_are_told_to_be_missing() -> None:
    rows = told("--built-in", "-n", "data")
    assert rows["data/sts/postgres"]["survivors"] == 0
    assert rows["data/sts/postgres"]["remarks"][0]["reason"] == "NotManaged"
    assert not rows["data/sts/postgres"]["ok"]


def test_two_clusters_at_once_are_one_too_many() -> None:
    assert "more than one cluster is named" in status("--built-in", "--snapshot", "x.json").stderr


@pytest.fixture
def cluster() -> SimulatedCluster:
    made = SimulatedCluster(SimulatedClock(NOW))
    labels, notes = {names.MANAGED: "true"}, {names.ON_DEMAND: "1"}
    made.apply(
        resource("Namespace", "default", labels=labels, notes=notes),
        deployment("web", 2),
        stateful_set("db", 3),
    )
    return made


def test_what_places_the_pods_is_said_and_what_is_off_with_a_template(
    cluster: SimulatedCluster,
) -> None:
    cluster.apply(deployment("web", 2, notes={names.PLACEMENT: names.BY_TEMPLATE}))
    (uid,) = [each["metadata"]["uid"] for each in cluster.objects("Deployment")]
    trace = new_trace(Reference(kind="Deployment", namespace="default", name="web", uid=uid))
    cluster.apply(builders.manifest(trace))
    cluster.clock.advance(seconds(20))
    found = standing(cluster)
    assert found["db"].placement == "webhook"
    assert found["web"].placement == "template"
    assert "TemplateUndone" in reasons(found["web"])


def test_what_rests_on_a_namespace_that_a_snapshot_lacks_is_not_said(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    cluster.apply(
        deployment("web", 2, notes={names.ON_DEMAND: "1"}),
        resource("Node", "s1", labels={"karpenter.sh/capacity-type": "spot"}),
    )
    cluster.clock.advance(seconds(20))
    whole, file = tmp_path / "whole.json", tmp_path / "mine.json"
    snapshot.write(whole, cluster.objects)
    lists = json.loads(whole.read_bytes())
    items = [each for each in lists["items"] if each["kind"] != "Namespace"]
    file.write_text(json.dumps(lists | {"items": items}))

    rows = told("--snapshot", str(file))
    known = {name: (each["managed"], each["floor"], each["ok"]) for name, each in rows.items()}
    floor = {"replicas": 1, "policy": "1", "source": "workload"}
    assert known["default/deploy/web"] == (None, floor, False)
    assert known["default/sts/db"] == (None, None, None)
    assert [each["message"] for each in rows["default/deploy/web"]["remarks"]] == [
        "1 of its floor of 1 is not on on-demand nodes"
    ]
    for command in ("status", "restore", "nodes"):
        done = run(command, "--snapshot", file)
        assert "namespaces that its objects are in (1 of them)" in done.stderr
        assert "=true" not in done.stdout
    assert "is not known" in run("restore", "--snapshot", file).stdout
    assert run("status", "--snapshot", file, "-n", "default").exit_code == 0
    explained = run("explain", "sts/db", "--snapshot", file).stdout
    assert "by default; whether its namespace is managed, or gives a floor, is not" in explained


def test_a_snapshot_shows_whether_the_policy_places_its_pods(tmp_path: Path) -> None:
    cluster, file = built_in.build(SimulatedClock(NOW)), tmp_path / "mine.json"
    snapshot.write(file, cluster.objects)
    assert told("--snapshot", str(file))["shop/deploy/web"]["placement"] == "webhook"
    cluster.apply(*map(dict, policy()))
    snapshot.write(file, cluster.objects)
    assert told("--snapshot", str(file))["shop/deploy/web"]["placement"] == "policy"


def test_a_hard_spread_that_nobody_mends_is_told(cluster: SimulatedCluster) -> None:
    even = {
        "maxSkew": 1,
        "topologyKey": names.ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    cluster.apply(deployment("web", 2, pod={"topologySpreadConstraints": [even]}))
    cluster.clock.advance(seconds(20))
    assert "SpreadCountsReleased" not in reasons(standing(cluster)["web"])
    cluster.apply(resource("Namespace", "default", labels={names.MANAGED: "false"}))
    assert "SpreadCountsReleased" in reasons(standing(cluster)["web"])


def test_a_floor_with_on_demand_nodes_in_one_zone_of_a_hard_spread_is_told(
    cluster: SimulatedCluster,
) -> None:
    for zone, kind in (("a", "on-demand"), ("b", "spot")):
        labels = {names.ZONE: zone, names.KARPENTER_CAPACITY: kind}
        cluster.apply(resource("Node", f"in-{zone}", labels=labels))
    even = {
        "maxSkew": 1,
        "topologyKey": names.ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    notes = {names.ON_DEMAND: "all"}
    cluster.apply(deployment("web", 6, notes=notes, pod={"topologySpreadConstraints": [even]}))
    assert "FloorInFewDomains" in reasons(standing(cluster)["web"])


def test_more_evictions_wait_than_are_told_one_by_one(cluster: SimulatedCluster) -> None:
    cluster.clock.advance(seconds(20))
    (item,) = (each for each in listing(gather(cluster)).items if each.subject.name == "web")
    many = msgspec.structs.replace(item, evictions=[f"pod {i}" for i in range(12)])
    told = list(WorkloadStatusList(items=[many]).sentences())
    assert "pod 9" in told[-2]
    assert told[-1] == "And 2 more evictions that wait: see -o json."


def test_other_labels_can_tell_what_is_spot(cluster: SimulatedCluster) -> None:
    before = gather(cluster)
    found = gather(cluster, labels=CapacityLabels(("lifecycle",)))
    assert len(found.unknown_capacity.unlabelled) == len(cluster.objects("Node"))
    assert not any(each.spot for each in found.standings)
    assert before.unknown_capacity == UnknownCapacity([], {})


def test_a_floor_may_be_the_namespaces_and_nodes_without_a_label_are_named(
    cluster: SimulatedCluster,
) -> None:
    cluster.apply(resource("Node", "bare-metal"))
    cluster.clock.advance(seconds(20))
    found = gather(cluster)
    assert found.unknown_capacity.unlabelled == ["bare-metal"]
    assert [(each.workload.name, each.wanted, each.on_demand) for each in found.standings] == [
        ("db", 1, 3),
        ("web", 1, 2),
    ]
    assert all(each.is_managed for each in found.standings)


def test_evictions_that_wait_are_told_with_who_asked_for_them(cluster: SimulatedCluster) -> None:
    cluster.clock.advance(seconds(20))
    pods = ask(cluster, List(Selection(Pod))).items
    first, second = sorted((pod for pod in pods if pod.template_hash), key=lambda pod: pod.name)
    (owner,) = ask(cluster, List(Selection(ReplicaSet))).items
    now = cluster.clock.now()
    release = builders.release(
        owner,
        reason=ReleaseReason.EVICTION,
        since=now,
        deadline=now + seconds(300),
        asked_by="alice",
    )
    note = msgspec.json.encode(Asked(by="bob", since=now)).decode()
    assert owner.deployment is not None
    released = writes.release_patch(first, release, owner.deployment)
    for write in (released, writes.annotate(second, names.ASKED, note)):
        (reply,) = cluster.perform([write])
        assert reply.error is None
    assert "EvictionsWait" in reasons(standing(cluster)["web"])
    sentences = [each for each in listing(gather(cluster)).sentences() if "asked at" in each]
    assert len(sentences) == 2
    assert f"Pod {first.name}: alice asked at" in sentences[0]
    assert f"Pod {second.name}: bob asked at" in sentences[1]


def test_a_gang_with_a_part_on_the_other_capacity_type_says_why_it_stays(
    cluster: SimulatedCluster,
) -> None:
    """Its namespace wants one on on-demand, so all are wanted there, and the only node is spot."""
    labels = {"karpenter.sh/capacity-type": "spot"}
    made = deployment("train", 2)
    made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    group = resource("PodGroup", "train", "default", spec={"minMember": 2})
    cluster.ask(Webhook(away))
    cluster.apply(resource("Node", "s1", labels=labels), group, made)
    cluster.clock.advance(seconds(20))
    train = standing(cluster)["train"]
    assert train.floor is not None
    assert train.floor.replicas == 2
    assert reasons(train) == ["BelowFloor"]
    told = "now it does not: on-demand has no room for all 2 pods of the PodGroup train: none moves"
    assert train.remarks[0].message.endswith(told)


def test_a_default_floor_that_nothing_holds_is_shown_as_one_and_no_risk(
    cluster: SimulatedCluster,
) -> None:
    """SURVIVE says what it comes to."""
    labels = {"karpenter.sh/capacity-type": "spot"}
    managed = resource("Namespace", "shop", labels={names.MANAGED: "true"})
    asked = stateful_set("asked", 1, notes=MAJORITY, namespace="shop")
    cluster.ask(Webhook(away))
    cluster.apply(managed, resource("Node", "s1", labels=labels), asked)
    cluster.apply(stateful_set("db", 1, namespace="shop"))
    cluster.clock.advance(seconds(20))
    by_default, by_word = standing(cluster)["db"], standing(cluster)["asked"]
    assert by_default.floor is not None
    assert (by_default.ok, by_default.survivors, by_default.floor.source) == (True, 0, "default")
    assert by_default.status == "1 below its default floor"
    assert by_default.remarks[0].message.endswith(
        "Set evenkeel.dev/on-demand to say what is wanted"
    )
    assert (by_word.ok, by_word.status) == (False, "1 below its floor")


def pooled(scene: Scene, **types: str) -> None:
    """Spot nodes with these names and types, all in one zone."""
    for name, kind in types.items():
        labels: dict[str, Any] = {names.INSTANCE_TYPE: kind, names.ZONE: "a"}
        scene.add_node(name, **labels)


def test_a_pool_with_more_pods_than_its_workload_is_to_have_there_is_told(scene: Scene) -> None:
    """What a template says counts before its workload's word, and that before its namespace's."""
    pooled(scene, s1="m5.large")
    at_most = {pods: {names.ONE_POOL_AT_MOST: pods} for pods in ("1", "2", "3")}
    scene.apply(
        resource("Namespace", "default", notes=at_most["1"]),
        deployment("web", 3, notes=at_most["2"]),
        deployment("api", 3, notes=at_most["2"], pod={"annotations": at_most["3"]}),
        deployment("cart", 2),
    )
    scene.settle()
    found = standing(scene.cluster)
    assert {name: reasons(item) for name, item in found.items()} == {
        "web": ["PoolsTooFew"],
        "api": [],
        "cart": ["PoolsTooFew"],
    }
    assert not found["web"].ok
    assert found["web"].survivors_of_pool == 0

    pooled(scene, s2="c5.large")
    found = standing(scene.cluster)
    assert reasons(found["web"]) == reasons(found["cart"]) == ["PoolTooFull"]
    assert "3 of its pods are in one pool (m5.large in a)" in found["web"].remarks[0].message


def test_so_it_is_of_a_namespace_that_a_snapshot_lacks(scene: Scene, tmp_path: Path) -> None:
    pooled(scene, s1="m5.large")
    scene.apply(deployment("web", 2, notes={names.ONE_POOL_AT_MOST: "1"}))
    scene.settle()
    pooled(scene, s2="c5.large")
    whole, file = tmp_path / "whole.json", tmp_path / "mine.json"
    snapshot.write(whole, scene.cluster.objects)
    lists = json.loads(whole.read_bytes())
    items = [each for each in lists["items"] if each["kind"] != "Namespace"]
    file.write_text(json.dumps(lists | {"items": items}))
    (remark,) = told("--snapshot", str(file))["default/deploy/web"]["remarks"]
    assert remark["reason"] == "PoolTooFull"
    assert remark["message"].endswith("which is to have 1 at most")


def test_namespaces_and_nodes_are_listed_once(scene: Scene) -> None:
    pooled(scene, s1="m5.large")
    scene.apply(deployment("web", 2, notes={names.ONE_POOL_AT_MOST: "1"}))
    scene.settle()
    lists = noting(scene.cluster, asks(List))
    assert reasons(standing(scene.cluster)["web"]) == ["PoolsTooFew"]
    listed = Counter(each.selection.kind.resource.kind for each in lists)
    assert (listed["Namespace"], listed["Node"]) == (1, 1)


def test_a_pool_that_takes_none_of_its_pods_is_none_for_them(scene: Scene) -> None:
    pooled(scene, s1="m5.large", s2="c5.large")
    held = {"nodeSelector": {names.INSTANCE_TYPE: "m5.large"}}
    scene.apply(deployment("web", 2, notes={names.ONE_POOL_AT_MOST: "1"}, pod=held))
    scene.settle()
    assert reasons(standing(scene.cluster)["web"]) == ["PoolsTooFew"]
