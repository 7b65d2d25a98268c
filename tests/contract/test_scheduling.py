"""Where the scheduler puts pods, and where not."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model.cluster_objects import Event
from evenkeel.model.deployment import Deployment
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Operation
from tests.contract.ground import ZONE, Ground
from tests.contract.manifests import SLOW_START, deployment, pod, template, workload
from tests.kit.manifests import resource

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
CORDON = [Operation("add", "/spec/unschedulable", value=True)]
TAINT = {"key": "example.org/full", "value": "yes", "effect": "NoSchedule"}


def there(ground: Ground, name: str) -> Sequence[Pod]:
    """A pod, or none: kwok ends a StatefulSet's old pod by its name, and may meet the new one."""
    return ground.list(Pod, fields=f"metadata.name={name}")


def bound(ground: Ground, name: str) -> str:
    """Wait until a pod is bound; answers its node."""

    def node() -> str:
        return next((pod.spec.node_name for pod in there(ground, name)), "")

    return ground.eventually(node, f"{name} bound")


def unschedulable(ground: Ground, name: str) -> str:
    """Wait until a pod has found no node; answers why."""

    def refused() -> str:
        return next((pod.status.refused for pod in there(ground, name)), "")

    return ground.eventually(refused, f"{name} unschedulable")


def node_affinity(**affinity: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": affinity}}


def needing(key: str, operator: str, value: str) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, "values": [value]}
    return node_affinity(**{REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}})


def apart(app: str, key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def test_a_pod_waits_when_every_node_is_cordoned(ground: Ground) -> None:
    name = ground.add_node("n")
    ground.patch(Node, name, CORDON)
    ground.apply(pod("p"))
    assert "unschedulable" in unschedulable(ground, "p")
    events = ground.eventually(lambda: ground.list(Event, fields="reason=FailedScheduling"))
    assert events[0].involved_object.name == "p"
    ground.patch(Node, name, {"spec": {"unschedulable": None}})
    assert bound(ground, "p") == name


def test_a_cordoned_node_gets_a_taint_and_loses_it_with_the_cordon(ground: Ground) -> None:
    """The controller adds it to spec.taints a moment later: positions in the list move."""
    name = ground.add_node("n")
    ground.patch(Node, name, CORDON)
    taint = "node.kubernetes.io/unschedulable"
    ground.eventually(lambda: ground.get(Node, name).has_taint(taint))
    ground.patch(Node, name, {"spec": {"unschedulable": None}})
    ground.eventually(lambda: not ground.get(Node, name).has_taint(taint))


def test_what_runs_on_a_cordoned_node_stays(ground: Ground) -> None:
    name = ground.add_node("n")
    ground.apply(pod("p"))
    ground.ready_pods(1)
    ground.patch(Node, name, CORDON)
    ground.never(lambda: not ground.get(Pod, "p").ready, seconds=1)


def test_a_tainted_node_takes_only_pods_that_tolerate_it(ground: Ground) -> None:
    name = ground.add_node("n")
    ground.patch(Node, name, {"spec": {"taints": [TAINT]}})
    ground.apply(
        pod("refused"),
        pod("other", tolerations=[{**TAINT, "value": "no"}]),
        pod("welcome", tolerations=[TAINT]),
        pod("anywhere", tolerations=[{"operator": "Exists"}]),
    )
    assert bound(ground, "welcome") == bound(ground, "anywhere") == name
    assert "taint" in unschedulable(ground, "refused")
    assert "taint" in unschedulable(ground, "other")


def test_node_selector_and_required_affinity_bind_to_matching_nodes(ground: Ground) -> None:
    spot = ground.add_node("spot", labels={"example.org/capacity": "spot"})
    other = ground.add_node("other")
    ground.apply(
        pod("on-spot", nodeSelector={"example.org/capacity": "spot"}),
        pod("not-on-spot", **needing("example.org/capacity", "NotIn", "spot")),
        pod("nowhere", nodeSelector={"example.org/capacity": "other"}),
    )
    assert bound(ground, "on-spot") == spot
    assert bound(ground, "not-on-spot") == other
    assert "affinity" in unschedulable(ground, "nowhere")


def test_a_required_affinity_compares_numbers(ground: Ground) -> None:
    large = ground.add_node("large", labels={"example.org/cores": "8"})
    small = ground.add_node("small", labels={"example.org/cores": "4"})
    ground.apply(
        pod("more", **needing("example.org/cores", "Gt", "4")),
        pod("less", **needing("example.org/cores", "Lt", "8")),
        pod("none", **needing("example.org/cores", "Gt", "8")),
    )
    assert (bound(ground, "more"), bound(ground, "less")) == (large, small)
    assert "affinity" in unschedulable(ground, "none")


def test_an_empty_term_of_a_required_affinity_matches_nothing(ground: Ground) -> None:
    ground.add_node("n")
    ground.apply(pod("p", **node_affinity(**{REQUIRED: {"nodeSelectorTerms": [{}]}})))
    unschedulable(ground, "p")


def test_a_preferred_node_is_taken_while_it_has_room_and_no_longer(ground: Ground) -> None:
    liked = ground.add_node("liked", labels={"example.org/liked": "yes"}, pods=1)
    other = ground.add_node("other")
    expression = {"key": "example.org/liked", "operator": "Exists"}
    preference = {"weight": 100, "preference": {"matchExpressions": [expression]}}
    for name, expected in (("first", liked), ("second", other)):
        ground.apply(pod(name, **node_affinity(**{PREFERRED: [preference]})))
        assert bound(ground, name) == expected


def test_required_anti_affinity_keeps_pods_apart(ground: Ground) -> None:
    nodes = {ground.add_node("a"), ground.add_node("b")}
    ground.apply(deployment("web", template("web", **apart("web")), replicas=3))
    ready = ground.eventually(lambda: [p for p in ground.pods() if p.ready][1:])
    assert len(ready) == 1
    assert {p.spec.node_name for p in ground.pods() if p.ready} == nodes
    waiting = next(p for p in ground.pods() if not p.spec.node_name)
    assert "anti-affinity" in unschedulable(ground, waiting.name)
    third = ground.add_node("c")
    assert bound(ground, waiting.name) == third


def test_a_replacement_waits_for_room_when_its_released_pod_keeps_it_away(
    ground: Ground,
) -> None:
    ground.add_node("n")
    ground.apply(deployment("web", template("web", **apart("web"))))
    (old,) = ground.ready_pods(1)
    ground.release(old)
    new = ground.eventually(lambda: [p for p in ground.pods() if p.uid != old.uid])[0]
    assert "anti-affinity" in unschedulable(ground, new.name)
    ground.delete(old)
    bound(ground, new.name)


def test_anti_affinity_of_what_runs_keeps_others_away(ground: Ground) -> None:
    ground.add_node("n")
    ground.apply(pod("shy", **apart("web")))
    bound(ground, "shy")
    ground.apply(pod("web", labels={"app": "web"}))
    assert "anti-affinity" in unschedulable(ground, "web")


def test_anti_affinity_can_be_about_zones(ground: Ground) -> None:
    ground.add_node("a", labels={ZONE: "one"})
    ground.add_node("b", labels={ZONE: "one"})
    spread = template("web", **apart("web", ZONE))
    ground.apply(deployment("web", spread, replicas=2))
    ground.eventually(lambda: [p for p in ground.pods() if p.ready])
    waiting = ground.eventually(lambda: [p for p in ground.pods() if not p.spec.node_name])[0]
    assert "anti-affinity" in unschedulable(ground, waiting.name)


MOUNTING: dict[str, Any] = {
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
}


def only(**labels: str) -> dict[str, Any]:
    """What a volume says that nodes with these labels alone can mount."""
    clauses = [{"key": k, "operator": "In", "values": [v]} for k, v in labels.items()]
    terms = [{"matchExpressions": clauses}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        pytest.param(only(**{ZONE: "one"}), "affinity", id="its node affinity names a zone"),
        pytest.param({"labels": {ZONE: "one__two"}}, "zone", id="its labels name zones"),
    ],
)
def test_a_pod_waits_for_the_nodes_that_its_volume_can_be_mounted_on(
    ground: Ground, volume: dict[str, Any], why: str
) -> None:
    here = ground.add_node("here", labels={ZONE: "one"})
    ground.add_node("elsewhere", labels={ZONE: "three"})
    ground.add_claim("data", **volume)
    ground.apply(workload("StatefulSet", "db", template("db", **MOUNTING)))
    (old,) = ground.ready_pods(1)
    assert old.spec.node_name == here
    ground.patch(Node, here, CORDON)
    ground.evict(old)
    ground.gone(old)
    assert why in unschedulable(ground, "db-0")
    ground.never(lambda: any(each.spec.node_name for each in there(ground, "db-0")))
    ground.patch(Node, here, {"spec": {"unschedulable": None}})
    assert bound(ground, "db-0") == here


def test_labels_of_a_volume_mean_nothing_to_a_node_without_a_zone(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.patch(Node, node, {"metadata": {"labels": {ZONE: None}}})
    ground.add_claim("data", labels={ZONE: "one"})
    ground.apply(pod("p", **MOUNTING))
    assert bound(ground, "p") == node


def test_a_pod_waits_for_a_claim_that_is_not_there(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.apply(pod("p", **MOUNTING))
    assert 'persistentvolumeclaim "data" not found' in unschedulable(ground, "p")
    ground.add_claim("data")
    assert bound(ground, "p") == node


@pytest.mark.parametrize(
    "volume",
    [
        pytest.param({}, id="none is made for it, and none is there"),
        pytest.param({"volumeName": "gone"}, id="the one that it names is not there"),
    ],
)
def test_a_pod_waits_for_the_volume_of_its_claim(ground: Ground, volume: dict[str, str]) -> None:
    ground.add_node("n")
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    size = {"resources": {"requests": {"storage": "1Gi"}}}
    ground.apply(resource("PersistentVolumeClaim", "data", spec=modes | size | volume))
    ground.apply(pod("p", **MOUNTING))
    why = unschedulable(ground, "p")
    assert "nodes are available: pod has unbound immediate PersistentVolumeClaims" in why


def test_a_pod_behind_a_gate_is_not_looked_at_until_that_is_taken_away(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.apply(pod("p", schedulingGates=[{"name": "example.com/quota"}]))
    told = ground.get(Pod, "p").status.not_scheduled
    assert told is not None
    assert (told.reason, told.message) == (
        "SchedulingGated",
        "Scheduling is blocked due to non-empty scheduling gates",
    )
    ground.apply(pod("p", schedulingGates=[]))
    assert bound(ground, "p") == node


def test_the_scheduler_counts_the_nodes_that_a_pod_s_rules_keep_it_off(ground: Ground) -> None:
    ground.add_node("n")
    ground.apply(pod("p", nodeSelector={"disk": "ssd"}))
    assert "1 node(s) didn't match Pod's node affinity/selector" in unschedulable(ground, "p")


def test_a_claim_for_one_pod_is_mounted_by_one_at_a_time(ground: Ground) -> None:
    node = ground.add_node("n")
    ground.add_claim("data", "ReadWriteOncePod")
    ground.apply(pod("first", **MOUNTING))
    assert bound(ground, "first") == node
    ground.apply(pod("second", **MOUNTING))
    assert "ReadWriteOncePod" in unschedulable(ground, "second")
    ground.delete(ground.get(Pod, "first"))
    assert bound(ground, "second") == node


CAPACITY = "example.org/capacity"


def spread(skew: int = 1, **more: Any) -> dict[str, Any]:
    """Spread a workload's pods over the capacity label, and prefer spot."""
    constraint = {
        "maxSkew": skew,
        "topologyKey": CAPACITY,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "minDomains": 2,
        "nodeTaintsPolicy": "Honor",
        **more,
    }
    expression = {"key": CAPACITY, "operator": "In", "values": ["spot"]}
    preference = {"weight": 100, "preference": {"matchExpressions": [expression]}}
    return {"topologySpreadConstraints": [constraint], **node_affinity(**{PREFERRED: [preference]})}


def test_pods_are_spread_over_a_label_no_further_apart_than_the_skew(ground: Ground) -> None:
    spot = ground.add_node("spot", labels={CAPACITY: "spot"})
    other = ground.add_node("other", labels={CAPACITY: "on-demand"})
    ground.add_node("neither")
    ground.apply(deployment("web", template("web", **spread(2)), replicas=6))
    nodes = [pod.spec.node_name for pod in ground.ready_pods(6)]
    assert (nodes.count(spot), nodes.count(other)) == (4, 2)


def test_with_fewer_domains_than_asked_for_only_the_skew_is_placed(ground: Ground) -> None:
    spot = ground.add_node("spot", labels={CAPACITY: "spot"})
    other = ground.add_node("other", labels={CAPACITY: "on-demand"})
    ground.patch(Node, spot, CORDON)
    ground.apply(deployment("web", template("web", **spread()), replicas=3))
    ground.eventually(lambda: [p for p in ground.pods() if p.ready])
    waiting = ground.eventually(lambda: [p for p in ground.pods() if not p.spec.node_name][1:])
    assert "topology spread" in unschedulable(ground, waiting[0].name)
    assert {p.spec.node_name for p in ground.pods()} == {other, ""}
    ground.patch(Node, spot, {"spec": {"unschedulable": None}})
    nodes = [pod.spec.node_name for pod in ground.ready_pods(3)]
    assert {nodes.count(spot), nodes.count(other)} == {1, 2}


@pytest.mark.parametrize(("policy", "placed"), [("Honor", 4), ("Ignore", 2)])
def test_a_domain_that_a_taint_closes_counts_unless_taints_are_honoured(
    ground: Ground, policy: str, placed: int
) -> None:
    for name in ("spot", "on-demand", "reserved"):
        ground.add_node(name, labels={CAPACITY: name})
    ground.patch(Node, ground.node("reserved"), {"spec": {"taints": [TAINT]}})
    ground.apply(deployment("web", template("web", **spread(nodeTaintsPolicy=policy)), replicas=4))

    def settled() -> list[str] | None:
        pods = ground.pods()
        refused = [p for p in pods for c in p.status.conditions if c.reason == "Unschedulable"]
        nodes = [pod.spec.node_name for pod in pods if pod.spec.node_name]
        return nodes if len(nodes) + len(refused) == len(pods) == 4 else None

    nodes = ground.eventually(settled)
    assert sorted(map(nodes.count, set(nodes))) == [placed // 2] * 2


def test_a_rollouts_old_pods_do_not_count_where_the_hash_is_matched(ground: Ground) -> None:
    spot = ground.add_node("spot", labels={CAPACITY: "spot"})
    other = ground.add_node("other", labels={CAPACITY: "on-demand"})
    ground.apply(deployment("web", template("web", nodeSelector={CAPACITY: "spot"}), replicas=4))
    ground.ready_pods(4)
    added = spread(2, matchLabelKeys=["pod-template-hash"])
    changes = [Operation("add", f"/spec/template/spec/{key}", added[key]) for key in added]
    gone = Operation("remove", "/spec/template/spec/nodeSelector")
    ground.patch(Deployment, "web", [gone, *changes])

    def rolled() -> Sequence[Pod] | None:
        pods = ground.pods()
        hashes = {pod.metadata.labels["pod-template-hash"] for pod in pods}
        return pods if len(pods) == 4 and len(hashes) == 1 and other in nodes_of(pods) else None

    nodes = nodes_of(ground.eventually(rolled))
    assert (nodes.count(spot), nodes.count(other)) == (3, 1)


BY_HASH = {"matchLabelKeys": ["pod-template-hash"]}


@pytest.mark.parametrize(
    ("more", "is_placed"),
    [
        pytest.param({}, True, id="the released pod counts"),
        pytest.param(BY_HASH, False, id="its zone has none, and takes none"),
        pytest.param({**BY_HASH, "nodeTaintsPolicy": "Honor"}, True, id="its zone does not count"),
    ],
)
def test_the_replacement_of_a_zones_last_pod_is_placed_elsewhere_or_nowhere(
    ground: Ground, more: dict[str, Any], *, is_placed: bool
) -> None:
    here = ground.add_node("here", labels={CAPACITY: "spot"})
    there = ground.add_node("there", labels={CAPACITY: "on-demand"})
    constraint = {
        "maxSkew": 1,
        "topologyKey": CAPACITY,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pods = template("web", topologySpreadConstraints=[constraint | more])
    ground.apply(deployment("web", pods, replicas=2))
    before = ground.ready_pods(2)
    (old,) = [pod for pod in before if pod.spec.node_name == here]
    ground.patch(Node, here, CORDON)
    ground.eventually(lambda: ground.get(Node, here).has_taint("node.kubernetes.io/unschedulable"))
    ground.release(old)
    known = {pod.uid for pod in before}
    (new,) = ground.eventually(lambda: [p for p in ground.pods() if p.uid not in known])
    if is_placed:
        assert bound(ground, new.name) == there
    else:
        assert "topology spread" in unschedulable(ground, new.name)


def nodes_of(pods: Sequence[Pod]) -> list[str]:
    return [pod.spec.node_name for pod in pods]


@pytest.mark.parametrize(
    ("container", "lacking"),
    [
        pytest.param(
            {"ports": [{"containerPort": 8080, "hostPort": 8080}]}, "ports", id="a port of the host"
        ),
        pytest.param(
            {"resources": {"requests": {"cpu": "1500m"}}}, "Insufficient cpu", id="most of the CPU"
        ),
    ],
)
def test_what_one_pod_has_of_a_node_the_next_gets_when_the_first_is_gone(
    ground: Ground, container: dict[str, Any], lacking: str
) -> None:
    ground.add_node("n", cpu="2")
    ground.apply(pod("first", container=container))
    bound(ground, "first")
    ground.apply(pod("second", container=container))
    assert lacking in unschedulable(ground, "second")
    ground.delete(ground.get(Pod, "first"))
    bound(ground, "second")


def test_a_pod_needs_room_for_its_init_container_beside_the_sidecars_before_it(
    ground: Ground,
) -> None:
    name = ground.add_node("n", cpu="4")

    def starting(cpu: str) -> dict[str, Any]:
        asks = {each: {"requests": {"cpu": each}} for each in ("1", cpu)}
        image = {"image": "example.org/image"}
        return {
            "container": {"resources": asks["1"]},
            "initContainers": [
                {"name": "proxy", "restartPolicy": "Always", "resources": asks["1"], **image},
                {"name": "load", "resources": asks[cpu], **image},
            ],
        }

    ground.apply(pod("large", **starting("3100m")))
    assert "Insufficient cpu" in unschedulable(ground, "large")
    ground.apply(pod("fits", **starting("3")))
    assert bound(ground, "fits") == name


def test_the_more_important_pod_is_placed_first(ground: Ground) -> None:
    """Of those whose back-off is over when there is room. Negative priorities are allowed."""
    low, high = f"{ground.namespace}-low", f"{ground.namespace}-high"
    ground.apply(priority_class(low, -10), priority_class(high, 1000))
    name = ground.add_node("n", cpu="1")
    wants: dict[str, Any] = {
        "container": {"resources": {"requests": {"cpu": "800m"}}},
        "nodeSelector": {"example.org/open": "yes"},
    }
    ground.apply(
        pod("low", **wants, priorityClassName=low),
        pod("normal", **wants),
        pod("high", **wants, priorityClassName=high),
    )
    for waiting, priority in (("low", -10), ("normal", 0), ("high", 1000)):
        unschedulable(ground, waiting)
        assert ground.get(Pod, waiting).spec.priority == priority
    ground.clock.sleep(timedelta(seconds=3))
    ground.patch(Node, name, {"metadata": {"labels": {"example.org/open": "yes"}}})
    bound(ground, "high")
    ground.never(lambda: [p.name for p in ground.pods() if p.spec.node_name] != ["high"])


def priority_class(name: str, value: int) -> dict[str, Any]:
    return resource("PriorityClass", name, value=value, preemptionPolicy="Never")


def test_replicas_spread_over_nodes(ground: Ground) -> None:
    for name in ("a", "b", "c"):
        ground.add_node(name)
    ground.apply(deployment("web", replicas=3))
    assert len({p.spec.node_name for p in ground.ready_pods(3)}) == 3


def test_a_daemon_set_runs_on_every_node_even_a_cordoned_one(ground: Ground) -> None:
    nodes = {ground.add_node("a"), ground.add_node("b")}
    ground.patch(Node, ground.node("b"), CORDON)
    ground.apply(workload("DaemonSet", "agent"))
    pods = ground.ready_pods(2)
    assert {p.spec.node_name for p in pods} == nodes
    assert {p.controller.kind for p in pods if p.controller} == {"DaemonSet"}
    ground.delete(pods[0])
    ground.gone(pods[0])
    assert {p.spec.node_name for p in ground.ready_pods(2)} == nodes


def test_a_pod_that_starts_slowly_holds_its_room(ground: Ground) -> None:
    ground.add_node("n", pods=1)
    ground.apply(deployment("web", template("web", SLOW_START), replicas=2))
    ground.eventually(lambda: [p for p in ground.pods() if p.spec.node_name])
    waiting = ground.eventually(lambda: [p for p in ground.pods() if not p.spec.node_name])[0]
    assert "Too many pods" in unschedulable(ground, waiting.name)
    ground.scale(Deployment, "web", 1)
    ground.gone(waiting)
