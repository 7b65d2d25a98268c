import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Get, List, Selection
from evenkeel.model.way import Way
from evenkeel_cli import node_names
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.explain import drainers, gather, lookup
from evenkeel_cli.explain.listing import Explanation
from evenkeel_cli.explain.steps import Course, under_hint, under_warning
from evenkeel_cli.main import main
from evenkeel_cli.resource_quota import ResourceQuota
from evenkeel_cli.ways import Situation
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit import builders
from tests.kit.asking import asks, failing
from tests.kit.builders import NOW
from tests.kit.manifests import deployment, resource, stateful_set
from tests.unit.decisions.restore.candidates import with_rules

LOGIN = "shop/deploy/login"
COSCHEDULED = "scheduling.x-k8s.io/pod-group"


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", "--built-in", *arguments])


def explained(subject: str) -> dict[str, Any]:
    (found,) = json.loads(explain(subject, "-o", "json").stdout)["items"]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def cluster() -> SimulatedCluster:
    """Shared by tests that only read it; a test that changes it takes `own_cluster`."""
    return built_in.build(SimulatedClock(NOW))


@pytest.fixture
def own_cluster() -> SimulatedCluster:
    return built_in.build(SimulatedClock(NOW))


@pytest.mark.parametrize(
    ("subject", "warning", "hint"),
    [
        ("shop/deploy/login", "handover", "handover"),
        ("shop/deploy/chat", "rationed", "leave"),
        ("shop/deploy/mailer", "at-once", "leave"),
        ("data/deploy/ledger", "at-once", "leave"),
        ("data/sts/postgres", "by-ordinal", "leave"),  # made just now
        ("batch/job/nightly-report", "at-last-moment", "leave"),
        ("ops/pod/debug-shell", "at-last-moment", "leave"),
    ],
)
def test_a_workload_is_explained_by_the_way_that_its_pods_go(
    subject: str, warning: str, hint: str
) -> None:
    found = explained(subject)

    assert [course["way"] for course in found["onInterruptionWarning"]] == [warning]
    assert [course["way"] for course in found["onRebalanceRecommendation"]] == [hint]
    assert all(course["steps"] for course in found["onInterruptionWarning"])


def test_a_handover_is_told_step_by_step_with_its_last_moment() -> None:
    (course,) = explained(LOGIN)["onInterruptionWarning"]

    assert course["reason"] == "MakeBeforeBreak"
    released, evicted, last, stands = course["steps"]
    assert released.startswith("It is released from login-")
    assert "the budget login allows that" in evicted
    assert "89 s after the warning" in last
    assert "a budget that refuses even then is overruled" in last
    assert stands == "It stands longer while too few others of its workload serve."


@pytest.mark.parametrize(
    ("course", "of"),
    [
        (under_warning, builders.stateful_set()),
        (under_warning, builders.replica_set()),
        (under_hint, builders.replica_set()),
    ],
)
def test_that_several_budgets_select_a_pod_is_told_and_that_none_lets_it_go(
    course: Callable[[Situation], Course], of: Controller
) -> None:
    selects = builders.pod(of=of).metadata.labels
    budgets = [builders.budget(name, selects=selects) for name in ("one", "two")]
    deployment = builders.deployment() if isinstance(of, ReplicaSet) else None
    objects = NamespaceObjects(budgets=budgets)
    found = course(Situation(builders.pod(of=of), builders.owner(of, deployment), objects, NOW))
    said = "several budgets select it (one, two), and Kubernetes evicts no such pod"
    assert said in " ".join(found.steps)


@pytest.mark.parametrize(
    ("grace", "is_replaced", "last"),
    [
        (30, True, "89 s after the warning, so that its grace period of 30 s fits."),
        (60, True, "74 s after the warning, which leaves 45 s of its grace period of 60 s."),
        (60, False, "59 s after the warning, so that its grace period of 60 s fits."),
        (300, False, "at once, because its grace period of 300 s is longer than what is left."),
    ],
)
def test_the_last_moment_is_told_with_what_it_leaves_of_the_grace_period(
    grace: int, *, is_replaced: bool, last: str
) -> None:
    of = builders.stateful_set() if is_replaced else None
    pod = builders.pod(of=of, grace=grace)
    owner = builders.owner(builders.stateful_set()) if is_replaced else Owner()
    steps = under_warning(Situation(pod, owner, NamespaceObjects(), NOW)).steps
    assert last in " ".join(steps)
    assert ("stands longer" in steps[-1]) is is_replaced


def test_it_says_who_asked_for_an_eviction_and_what_that_waits_for(
    own_cluster: SimulatedCluster,
) -> None:
    deployment = lookup.find(own_cluster, lookup.parse("deploy/login", "shop"))
    (pod,) = ask(own_cluster, List(gather.pods_of(deployment))).items
    assert pod.controller is not None
    release = Release(
        reason=ReleaseReason.EVICTION,
        deadline=NOW + timedelta(minutes=5),
        since=NOW,
        wanted=1,
        controller=pod.controller.name,
        controller_uid=pod.controller.uid,
        asked_by="alice",
    )
    own_cluster.perform([writes.release_patch(pod, release, deployment.as_controller)])
    (fact,) = (fact for fact in gather.answer(own_cluster, deployment).facts if "alice" in fact)
    assert fact.startswith(f"Pod {pod.name}: alice asked at 2026-11-21T06:00:00Z to evict it;")
    assert fact.endswith("by 2026-11-21T06:05:00Z if none starts.")


def test_the_annotations_that_change_it_are_named() -> None:
    login, chat = explained(LOGIN), explained("deploy/chat")

    (warning,), (hint,) = login["onInterruptionWarning"], login["onRebalanceRecommendation"]
    assert any(names.HANDOVER in change for change in warning["changes"])
    assert any(names.AT_DEADLINE in change for change in warning["changes"])
    assert any(names.DO_NOT_DISRUPT in change for change in hint["changes"])
    (course,) = chat["onInterruptionWarning"]
    assert course["changes"] == [f"take the annotation {names.HANDOVER} off"]


def answered(cluster: SimulatedCluster, text: str) -> Explanation:
    """What is said of an object as it is named."""
    return gather.answer(cluster, lookup.find(cluster, lookup.parse(text, "")))


def of_node(labels_that_count: CapacityLabels = WELL_KNOWN, **node: Any) -> Explanation:
    """What is said of the only node of a cluster."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    cluster.apply(resource("Node", "n1", **node))
    found = lookup.find(cluster, lookup.parse("node/n1", ""))
    return gather.answer(cluster, found, labels_that_count)


@pytest.mark.parametrize(
    ("labels", "seen"),
    [
        ({"karpenter.sh/nodepool": "spot"}, ["Karpenter"]),
        ({"eks.amazonaws.com/nodegroup": "burst"}, ["EKS managed node group"]),
        (
            {"karpenter.sh/nodepool": "general", "eks.amazonaws.com/compute-type": "auto"},
            ["EKS Auto Mode"],
        ),
        ({}, []),
    ],
)
def test_drainers_are_seen_by_the_labels_of_nodes(
    labels: Mapping[str, str], seen: list[str]
) -> None:
    assert [drainer.name for drainer in of_node(labels=labels).other_drainers] == seen


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"app.kubernetes.io/name": "karpenter"}, "Karpenter"),
        (
            {"app.kubernetes.io/name": "aws-node-termination-handler"},
            "AWS node termination handler",
        ),
        ({"app.kubernetes.io/name": "aws-cluster-autoscaler"}, "cluster autoscaler"),
        ({"k8s-app": "cluster-autoscaler"}, "cluster autoscaler"),
        ({"app": "cluster-autoscaler"}, "cluster autoscaler"),
    ],
)
def test_drainers_are_seen_by_their_pods(labels: Mapping[str, str], name: str) -> None:
    cluster = SimulatedCluster(SimulatedClock(NOW))
    spec = {"containers": [{"name": "d", "image": "d"}]}
    cluster.apply(resource("Pod", "d", "kube-system", labels=labels, spec=spec))
    cluster.clock.advance(cluster.options.cache_lag * 2)

    (found,) = drainers.find(cluster, [])

    assert (found.name, found.seen) == (name, "pod kube-system/d")


def test_a_node_is_explained_with_its_workloads() -> None:
    found = explained("node/ip-10-0-0-23.eu-central-1.compute.internal")

    assert found["facts"] == ["It is a spot node."]
    named = [(row["subject"]["namespace"], row["subject"]["kind"]) for row in found["workloads"]]
    assert named == sorted(named)
    assert {row["onWarning"] for row in found["workloads"]} >= {"leave", "handover"}
    assert found["node"]["onRebalanceRecommendation"]


@pytest.mark.parametrize(
    ("labels", "spec", "fact"),
    [
        ({}, {}, "None of the labels"),
        ({names.CAPACITY_LABELS[1]: "ON_DEMAND"}, {}, "It is an on-demand node"),
        ({names.INTERRUPTIBLE: "true"}, {}, "EC2 may take its reserved capacity back"),
        ({}, {"providerID": "kind://x/n1"}, "No EC2 instance runs it (kind)"),
        (
            {names.EKS_COMPUTE: "fargate"},
            {"providerID": "aws:///eu-central-1a/5e5d8a/fargate-ip-10-0-1-2"},
            "No EC2 instance runs it (fargate)",
        ),
        (
            {names.CAPACITY_LABELS[1]: "SPOT"},
            {"providerID": "kind://x/n1"},
            "It has no EC2 instance in spec.providerID: no event can be about it.",
        ),
        ({}, {"providerID": ""}, "It has no spec.providerID"),
        ({}, {"unschedulable": True}, "It is cordoned already"),
    ],
)
def test_what_is_odd_about_a_node_is_said(
    labels: Mapping[str, str], spec: Mapping[str, Any], fact: str
) -> None:
    assert any(each.startswith(fact) for each in of_node(labels=labels, spec=spec).facts)


def test_other_labels_can_tell_what_is_spot() -> None:
    found = of_node(CapacityLabels(("lifecycle",)), labels={"lifecycle": "spot"})
    assert "It is a spot node." in found.facts


@pytest.mark.parametrize(
    ("text", "namespace", "kind", "name"),
    [
        ("login", "", "Deployment", "login"),
        ("deploy/login", "", "Deployment", "login"),
        ("deployments/login", "shop", "Deployment", "login"),
        ("shop/deploy/login", "", "Deployment", "login"),
        ("sts/postgres", "", "StatefulSet", "postgres"),
        ("postgres-0", "", "Pod", "postgres-0"),
        ("po/postgres-0", "data", "Pod", "postgres-0"),
        ("job/import", "", "Job", "import"),
        ("deployment.apps/login", "", "Deployment", "login"),
        ("shop/deployment.apps/login", "", "Deployment", "login"),
        ("statefulset.apps/postgres", "data", "StatefulSet", "postgres"),
        ("job.batch/import", "", "Job", "import"),
    ],
)
def test_an_object_is_found_as_people_name_it(
    cluster: SimulatedCluster, text: str, namespace: str, kind: str, name: str
) -> None:
    found = lookup.find(cluster, lookup.parse(text, namespace))

    assert (found.resource.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    ("text", "namespace", "problem"),
    [
        ("nothing", "", "there is no nothing: check the name"),
        ("deploy/postgres", "", "there is no deploy postgres: check"),
        ("login", "data", "there is no login in namespace data"),
        ("deploy/logn", "shop", "there is no deploy logn in namespace shop: did you mean shop/de"),
        ("chekout", "", "there is no chekout: did you mean shop/deploy/checkout?"),
        ("login", "data", "in namespace data: did you mean shop/deploy/login?"),
        ("node/ip-10-0-64-76", "data", "no node ip-10-0-64-76: did you mean ip-10-0-64-79 or"),
        ("cronjob/x", "", "'cronjob' is no kind that explain knows"),
        ("statefulset.apps.kruise.io/x", "", "is no kind that explain knows"),
        ("a/b/c/d", "", "should be NAME, KIND/NAME or NAMESPACE/KIND/NAME"),
        ("deploy/", "", "should be NAME, KIND/NAME"),
        ("shop/deploy/login", "data", "name two namespaces"),
    ],
)
def test_a_name_that_leads_nowhere_is_bad_input(
    cluster: SimulatedCluster, text: str, namespace: str, problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        lookup.find(cluster, lookup.parse(text, namespace))

    assert problem in str(caught.value)


def test_nothing_is_suggested_of_what_may_not_be_read(own_cluster: SimulatedCluster) -> None:
    everywhere = asks(List, of=Deployment, selection=Selection(Deployment))
    failing(own_cluster, ForbiddenError("no"), everywhere)

    with pytest.raises(BadInputError, match="no deploy logn in namespace shop: check the name"):
        lookup.find(own_cluster, lookup.parse("deploy/logn", "shop"))


def test_a_node_is_in_no_namespace() -> None:
    assert lookup.parse("node/x", "shop").namespace == ""


def test_a_name_that_means_several_things_is_bad_input(own_cluster: SimulatedCluster) -> None:
    own_cluster.apply(deployment("login", 0, namespace="ops"))

    with pytest.raises(BadInputError, match=r"login may be .*ops/deploy/login.*: name one of"):
        lookup.find(own_cluster, lookup.parse("login", ""))


def test_only_one_cluster_can_be_explained_at_a_time() -> None:
    done = explain("login", "--context", "x")

    assert done.exit_code == 2
    assert done.stderr == "error: more than one cluster is named: keep one of them\n"


@pytest.mark.parametrize("namespace", ["", "shop"])
@pytest.mark.parametrize("subject", ["{}", "node/{}", "no/{}"])
def test_a_node_may_be_named_as_it_is_printed(
    cluster: SimulatedCluster, subject: str, namespace: str
) -> None:
    """Also where a namespace is searched, as the context's of a real cluster is: it has no node."""
    whole = cluster.objects("Node")[0]["metadata"]["name"]
    short = whole.partition(".")[0]
    assert whole != short

    found = lookup.find(cluster, lookup.parse(subject.format(short), namespace))

    assert found.name == whole


def test_a_node_s_short_name_has_to_mean_one_node(own_cluster: SimulatedCluster) -> None:
    for zone in ("eu", "us"):
        own_cluster.apply(resource("Node", f"twin.{zone}"))

    own_cluster.clock.advance(timedelta(seconds=5))  # the API server's cache shows them by then

    with pytest.raises(BadInputError, match=r"may be twin\.eu, twin\.us"):
        lookup.find(own_cluster, lookup.parse("node/twin", ""))


@pytest.mark.parametrize("name", ["twin.asia", "..", "UPPER", "nowhere"])
def test_what_is_no_node_is_found_as_none(cluster: SimulatedCluster, name: str) -> None:
    assert node_names.find(cluster, name) is None


def floor_fact(cluster: SimulatedCluster, subject: str) -> str:
    return next((fact for fact in answered(cluster, subject).facts if "floor" in fact), "")


def test_a_floor_is_told_with_who_says_so(own_cluster: SimulatedCluster) -> None:
    own_cluster.apply(
        stateful_set("db", 3, namespace="shop"),
        stateful_set("queue", 2, namespace="shop", notes={names.ON_DEMAND: "1"}),
        stateful_set("cache", 1, namespace="new"),
        stateful_set("log", 1, namespace="asked"),
        resource("Namespace", "asked", notes={names.ON_DEMAND: "all"}),
    )
    start = "are to be on on-demand nodes by"
    unplaced = "; its namespace is not managed: nothing places its pods"
    by_default = "default: new pods prefer that, and none waits or is moved for it"
    assert {
        subject: floor_fact(own_cluster, subject)
        for subject in ("shop/sts/db", "shop/sts/queue", "new/sts/cache", "asked/sts/log")
    } == {
        "shop/sts/db": f"Its floor: 2 of 3 {start} {by_default}.",
        "shop/sts/queue": f"Its floor: 1 of 2 {start} its workload.",
        "new/sts/cache": f"Its floor: 1 of 1 {start} default{unplaced}.",
        "asked/sts/log": f"Its floor: 1 of 1 {start} its namespace{unplaced}.",
    }


def test_without_a_floor_or_the_right_to_see_its_namespace_none_is_told(
    own_cluster: SimulatedCluster,
) -> None:
    own_cluster.apply(deployment("new", 2, namespace="shop"), stateful_set("db", namespace="shop"))
    assert floor_fact(own_cluster, "shop/deploy/new") == ""
    failing(own_cluster, ForbiddenError("403"), asks(Get, of=Namespace))
    assert floor_fact(own_cluster, "shop/sts/db") == ""


def test_a_quota_that_is_used_up_is_said_to_stand_in_the_way() -> None:
    (fact,) = (fact for fact in explained("tenant/deploy/portal")["facts"] if "Quota" in fact)

    assert fact.startswith("ResourceQuota tenant/")
    assert "leaves no room (pods 3 of 3): no replacement can be made" in fact
    assert "its pods go in turns on a warning" in fact


def test_a_quota_with_room_is_not_mentioned(own_cluster: SimulatedCluster) -> None:
    (quota,) = own_cluster.objects("ResourceQuota", "tenant")
    name = quota["metadata"]["name"]
    spec = {"spec": {"hard": {"pods": "4"}}}
    own_cluster.server.patch("ResourceQuota", ("tenant", name), spec)
    own_cluster.clock.advance(timedelta(seconds=5))

    assert not [
        fact for fact in answered(own_cluster, "tenant/deploy/portal").facts if "Quota" in fact
    ]


@pytest.mark.parametrize(("cpu", "told"), [("799m", 1), ("800m", 0)])
def test_a_quota_is_compared_with_what_a_pod_asks_for(
    own_cluster: SimulatedCluster, cpu: str, told: int
) -> None:
    """Three pods of 200m ask for 600m, and a replacement for 200m more."""
    (quota,) = own_cluster.objects("ResourceQuota", "tenant")
    limits = {"spec": {"hard": {"pods": "4", "requests.cpu": cpu, "limits.cpu": "1"}}}
    own_cluster.server.patch("ResourceQuota", ("tenant", quota["metadata"]["name"]), limits)
    own_cluster.clock.advance(timedelta(seconds=5))
    facts = [
        fact for fact in answered(own_cluster, "tenant/deploy/portal").facts if "Quota" in fact
    ]

    assert len(facts) == told
    assert all(f"(requests.cpu 600m of {cpu})" in fact for fact in facts)


def test_a_single_replica_under_a_full_quota_is_said_to_stay_to_its_last_moment(
    own_cluster: SimulatedCluster,
) -> None:
    used = len(own_cluster.objects("Pod", "shop"))
    own_cluster.apply(resource("ResourceQuota", "pods", "shop", spec={"hard": {"pods": str(used)}}))
    own_cluster.clock.advance(timedelta(seconds=5))
    (fact,) = (fact for fact in answered(own_cluster, LOGIN).facts if "Quota" in fact)

    assert "its pod goes at its last moment on a warning" in fact


def test_it_is_said_when_quotas_cannot_be_read(own_cluster: SimulatedCluster) -> None:
    failing(
        own_cluster, ForbiddenError("resourcequotas is forbidden"), asks(List, of=ResourceQuota)
    )

    assert answered(own_cluster, LOGIN).facts[-1].endswith("resourcequotas is forbidden.")


@pytest.mark.parametrize(
    ("at_notice", "which"),
    [
        ("", "those on dying nodes go together"),
        ("all", "all of them go together, those on healthy nodes too"),
    ],
)
def test_a_gang_is_told_with_what_becomes_of_it(
    own_cluster: SimulatedCluster, at_notice: str, which: str
) -> None:
    notes = {names.GANG: "true", names.GANG_AT_NOTICE: at_notice}
    key = ("batch", "nightly-report")
    own_cluster.server.patch("Job", key, {"metadata": {"annotations": notes}})
    answer = answered(own_cluster, "batch/job/nightly-report")
    (fact,) = (fact for fact in answer.facts if "gang" in fact)
    assert fact.startswith("It is in the gang job batch/nightly-report of at least 4:")
    assert which in fact
    (course,) = answer.on_rebalance_recommendation
    assert (course.way, course.reason) == (Way.STAY, "JobMayFinish")


def test_of_a_group_that_is_disrupted_together_it_says_so(own_cluster: SimulatedCluster) -> None:
    spec: dict[str, Any] = {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}}
    group = resource("PodGroup", "login", "shop", spec=spec)
    own_cluster.apply(group | {"apiVersion": "scheduling.k8s.io/v1beta1"})
    in_the_group = {"spec": {"template": {"spec": {"schedulingGroup": {"podGroupName": "login"}}}}}
    own_cluster.server.patch("Deployment", ("shop", "login"), in_the_group)
    own_cluster.clock.advance(timedelta(seconds=60))
    answer = answered(own_cluster, LOGIN)
    (fact,) = (fact for fact in answer.facts if "gang" in fact)
    assert "all of whose pods are needed: where one has to go, all of them go together" in fact


def test_under_a_hint_it_says_that_a_gang_stays(own_cluster: SimulatedCluster) -> None:
    own_cluster.apply(resource("PodGroup", "login", "shop", spec={"minMember": 2}))
    labels = {"spec": {"template": {"metadata": {"labels": {COSCHEDULED: "login"}}}}}
    own_cluster.server.patch("Deployment", ("shop", "login"), labels)
    own_cluster.clock.advance(timedelta(seconds=60))
    answer = answered(own_cluster, LOGIN)
    assert any("gang podgroup shop/login of at least 2" in fact for fact in answer.facts)
    assert (Way.STAY, "Gang") in {
        (course.way, course.reason) for course in answer.on_rebalance_recommendation
    }


def test_a_pod_that_no_other_node_takes_is_left_on_a_hint() -> None:
    clock = SimulatedClock(NOW)
    own_cluster = built_in.build(clock)
    pod = lookup.find(own_cluster, lookup.parse("pod/postgres-0", "data"))

    def told() -> tuple[str, str]:
        (course,) = gather.answer(own_cluster, pod).on_rebalance_recommendation
        return course.reason, " ".join(course.steps)

    reason, steps = told()
    assert reason == "StatefulSet"
    assert "It goes once a node is known that takes its next pod." in steps
    for node in own_cluster.objects("Node"):
        own_cluster.apply({**node, "spec": {**node["spec"], "unschedulable": True}})
    clock.advance(timedelta(seconds=1))  # nodes are read from a cache
    reason, steps = told()
    assert reason == "NoPlace"
    assert "No node with room for it is known" in steps
    closed = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    for node in own_cluster.objects("Node"):
        own_cluster.apply({**node, "spec": {**node["spec"], "unschedulable": False, **closed}})
    clock.advance(timedelta(seconds=1))
    reason, steps = told()
    assert reason == "NoPlace"
    assert "No node takes its next pod: " in steps
    assert "the taint gpu:NoSchedule (" in steps


def test_a_pod_that_would_come_back_is_told_so() -> None:
    tolerant = with_rules(builders.stateful_set(), tolerations=[{"operator": "Exists"}])
    situation = Situation(
        builders.pod(of=tolerant), builders.owner(tolerant), NamespaceObjects(), NOW
    )
    hint, warning = under_hint(situation), under_warning(situation)
    assert (hint.way, hint.reason) == (Way.STAY, "ReturnsToNode")
    assert (warning.way, warning.reason) == (Way.AT_LAST_MOMENT, "ReturnsToNode")
    assert (
        hint.changes
        == warning.changes
        == ("tolerate no taint evenkeel.dev/doomed, and name no node",)
    )


def test_it_says_what_it_costs_that_pods_are_targets_of_a_load_balancer() -> None:
    clock = SimulatedClock(NOW)
    cluster = built_in.build(clock)
    login = ask(cluster, Get(Deployment, "login", "shop"))

    def said() -> list[str]:
        clock.advance(timedelta(seconds=5))  # lists come from the API server's cache
        return [each for each in gather.answer(cluster, login).facts if "targets" in each]

    assert not said()
    notes = {names.NLB_TARGETS: "ip"}
    spec = {"selector": dict(login.spec.selector.match_labels)}
    cluster.apply(resource("Service", "login", "shop", notes=notes, spec=spec))
    gates, sleep = said()
    assert gates.startswith("Service shop/login makes its pods targets, which get requests some")
    assert sleep.endswith(f"or the namespace, {names.PRE_STOP_SLEEP}: 5s.")
    gated, asleep = {names.READINESS_GATES: "enabled"}, {names.PRE_STOP_SLEEP: "5s"}
    cluster.apply(resource("Namespace", "shop", labels=gated, notes=asleep))
    assert not said()
