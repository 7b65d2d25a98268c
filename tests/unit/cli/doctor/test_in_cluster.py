"""Each link in the cluster, judged: one that holds, and one for each way in which it may not."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from evenkeel.errors import ForbiddenError, InvalidError
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.instance import INTERRUPTIBLE, Instance
from evenkeel.model.meta import Metadata, Reference
from evenkeel.model.node import Node, NodeMetadata, NodeSpec
from evenkeel_cli.doctor import (
    certificate,
    clocks,
    drainers,
    nodes,
    pause,
    policies,
    rights,
    unasked,
    version,
    webhook,
)
from evenkeel_cli.doctor.certificate import Seen
from evenkeel_cli.doctor.drainers import Container, PodSpec, Variable
from evenkeel_cli.doctor.findings import Verdict
from evenkeel_cli.doctor.rights import Right, Subject
from evenkeel_cli.doctor.unasked import Counts
from evenkeel_cli.doctor.webhook import Place, Tried
from evenkeel_cli.explain.drainers import Drainer
from evenkeel_cli.pausing import Pause
from tests.kit.clocks import NOW
from tests.unit.cli.doctor.checking import BROKEN, FINE, NOT_LOOKED, UNKNOWN, check


def test_a_pause_breaks_the_chain() -> None:
    check(pause.judge(None), FINE)
    present = Pause(subject=Reference(kind="ConfigMap", name="evenkeel-paused"), by="ada")
    check(pause.judge(present), BROKEN, "paused by ada", "evenkeel resume --apply")


def node(name: str, instance: str = "", **labels: str) -> Node:
    known = {"capacity": WELL_KNOWN.keys[0]}
    return Node(
        metadata=NodeMetadata(
            name=name, labels={known[key]: value for key, value in labels.items()}
        ),
        spec=NodeSpec(provider_id=f"aws:///eu-central-1a/{instance}" if instance else ""),
    )


def ec2(**lifecycles: str) -> dict[str, Instance]:
    return {
        f"i-{name}": Instance(instance_id=f"i-{name}", state="running", lifecycle=lifecycle)
        for name, lifecycle in lifecycles.items()
    }


SPOT = node("a", "i-a", capacity="spot")
BARE = node("b", "i-b")
LENT = Node(
    metadata=NodeMetadata(name="c", labels={names.INTERRUPTIBLE: "true"}),
    spec=NodeSpec(provider_id="aws:///eu-central-1a/i-c"),
)


def test_nodes_have_to_say_which_instance_they_are() -> None:
    assert list(nodes.judge_instances([SPOT, BARE], None)) == []
    (finding,) = nodes.judge_instances([SPOT, Node(metadata=NodeMetadata(name="d"))], None)
    check(finding, BROKEN, "1 node (d) without spec.providerID")


def test_a_node_without_a_tag_has_to_be_called_what_ec2_calls_it() -> None:
    tags = {"kubernetes.io/cluster/prod": "owned"}
    running = Instance(instance_id="i-a", state="running", private_dns_name="ip-10-0-0-1")
    for fine in (
        {"i-a": msgspec.structs.replace(running, tags=tags)},
        {"i-a": msgspec.structs.replace(running, private_dns_name="a")},
        {},
    ):
        assert list(nodes.judge_instances([SPOT], fine)) == []
    (finding,) = nodes.judge_instances([SPOT], {"i-a": running})
    check(finding, BROKEN, "the instances of 1 node (a) have no cluster's tag", "kubernetes.io")


@pytest.mark.parametrize(
    ("found", "known", "verdict", "said"),
    [
        ([], None, UNKNOWN, "there is no node"),
        ([SPOT], None, FINE, "1 node with a label"),
        ([SPOT, BARE], None, UNKNOWN, "1 node (b) of 2 without one of"),
        ([BARE], None, BROKEN, "all count as on-demand"),
        ([SPOT, BARE], ec2(a="spot", b="spot"), BROKEN, "EC2 calls 1 node (b) spot"),
        ([SPOT, BARE], ec2(a="spot", b=""), FINE, "which EC2 says they are"),
        ([BARE], ec2(b=""), FINE, "which EC2 says they are"),
        ([SPOT, BARE], ec2(a="spot"), UNKNOWN, "without one of"),
    ],
)
def test_nodes_have_to_tell_their_capacity_type(
    found: list[Node], known: dict[str, Instance] | None, verdict: Verdict, said: str
) -> None:
    check(nodes.judge_labels(found, WELL_KNOWN, known), verdict, said)


@pytest.mark.parametrize(
    ("found", "known", "verdict", "said"),
    [
        ([SPOT], None, NOT_LOOKED, "EC2 was not asked"),
        ([SPOT, BARE], ec2(a="spot", b=""), FINE, "1 node, each labelled so"),
        ([SPOT, BARE], ec2(a="spot", b="spot"), BROKEN, "EC2 calls 1 node (b) spot"),
        ([SPOT], ec2(a=""), BROKEN, "the labels call 1 node (a) spot"),
        ([SPOT, BARE], ec2(b=""), UNKNOWN, "EC2 does not list the instances of 1 node (a)"),
        ([SPOT, node("h", "")], ec2(a="spot"), FINE, "1 node, each labelled so"),
        ([LENT], ec2(c=INTERRUPTIBLE), FINE, "1 node, each labelled so"),
        ([LENT], ec2(c=""), BROKEN, "the labels call 1 node (c) spot"),
        ([SPOT, BARE], ec2(a="spot", b=INTERRUPTIBLE), BROKEN, "EC2 calls 1 node (b) spot"),
    ],
)
def test_labels_have_to_say_what_ec2_says(
    found: list[Node], known: dict[str, Instance] | None, verdict: Verdict, said: str
) -> None:
    check(nodes.judge_spot(found, WELL_KNOWN, known), verdict, said)


KARPENTER = Drainer("Karpenter", "label karpenter.sh/nodepool=x", "it drains, too")
HANDLER = Drainer("AWS node termination handler", "pod kube-system/nth", "it evicts at once")
SCALER = Drainer("cluster autoscaler", "pod kube-system/ca", "they do not collide")


@pytest.mark.parametrize(
    ("drainer", "queues", "gated", "observes", "verdict", "said"),
    [
        (SCALER, None, False, False, FINE, "they do not collide"),
        (HANDLER, None, False, False, BROKEN, "it evicts at once"),
        (HANDLER, None, True, False, FINE, "its evictions wait"),
        (HANDLER, None, False, True, FINE, "only observes"),
        (KARPENTER, None, False, False, UNKNOWN, "no pod of it is seen"),
        (KARPENTER, [], False, False, FINE, "from no queue"),
        (KARPENTER, ["spot"], False, False, BROKEN, "from the queue spot"),
    ],
)
def test_another_drainer_may_evict_too_early(
    drainer: Drainer,
    queues: list[str] | None,
    gated: bool,  # noqa: FBT001 - a table
    observes: bool,  # noqa: FBT001 - a table
    verdict: Verdict,
    said: str,
) -> None:
    check(drainers.judge(drainer, queues, is_gated=gated, observes=observes), verdict, said)


def test_karpenters_queue_is_in_its_pods_environment_or_arguments() -> None:
    by_variable = Container(env=(Variable("INTERRUPTION_QUEUE", "one"), Variable("X", "y")))
    by_flag = Container(args=("--interruption-queue=two",))
    of = [drainers.Pod(PodSpec((each,))) for each in (by_variable, by_flag, Container(env=None))]
    assert drainers.queues_in(of) == ["one", "two"]
    assert drainers.queues_in(of[2:]) == []
    assert drainers.queues_in([]) is None


def test_every_right_of_the_manifests_is_asked_for() -> None:
    granted = rights.granted(rights.in_manifests("rbac", "gate", "serve"))
    titles = {subject.title for subject in granted}
    assert titles == {"interruption", "handover", "placement", "restore", "evenkeel-serve"}
    of = {subject.title: set(each) for subject, each in granted.items()}
    assert Right("patch", "", "nodes") in of["interruption"]
    assert Right("create", "", "events", namespace="default") in of["interruption"]
    assert Right("create", "", "pods", "eviction") in of["handover"]
    lease = Right(
        "get", "coordination.k8s.io", "leases", "", "evenkeel-handover", "evenkeel-system"
    )
    assert lease in of["handover"]
    assert Right("patch", "", "pods") in of["placement"]
    assert Right("patch", "", "pods") in of["evenkeel-serve"]
    leases = Right("list", "coordination.k8s.io", "leases", namespace="evenkeel-system")
    assert leases in of["evenkeel-serve"]


GROUP = Subject("Group", "evenkeel-placement")
OF_RBAC = Right("get", "", "namespaces")
OF_GATE = Right("patch", "", "pods")


def test_a_missing_right_is_named_with_what_grants_it() -> None:
    check(rights.judge(GROUP, [OF_RBAC, OF_GATE], []), FINE, "all 2 things")
    found = rights.judge(GROUP, [OF_RBAC, OF_GATE], [OF_GATE])
    check(found, BROKEN, str(OF_GATE), "evenkeel upgrade", "manifests/")


def test_the_webhook_in_the_cluster_is_asked_for_as_its_service_account() -> None:
    account = Subject("ServiceAccount", "evenkeel-serve", "evenkeel-system")
    assert account.to_wire()["user"] == "system:serviceaccount:evenkeel-system:evenkeel-serve"
    many = [Right("get", "", f"r{number}") for number in range(5)]
    found = rights.judge(account, many, many)
    check(found, BROKEN, "get r0, get r1, get r2, and 2 more", "evenkeel upgrade")


def test_rights_and_code_have_to_be_of_one_version() -> None:
    roles: dict[str, str | None] = dict.fromkeys(version.ROLES, "1")
    check(version.judge_rights(roles, "1"), FINE, "1")
    check(version.judge_rights(roles, "2"), BROKEN, "1, and this command has 2", "evenkeel upgrade")
    gone = roles | {"evenkeel-restore": None}
    check(version.judge_rights(gone, "1"), BROKEN, "there is no ClusterRole evenkeel-restore")
    old_gate = roles | {"evenkeel-gate": ""}
    check(version.judge_rights(old_gate, "1"), BROKEN, "evenkeel-gate: no version")
    check(version.judge_code("1", roles), FINE)
    wrong = version.judge_code("2", roles)
    check(wrong, BROKEN, "code has 2, the rights have 1", "evenkeel upgrade")
    check(version.judge_code("", roles), UNKNOWN, "it is older", "evenkeel upgrade")


def test_the_version_changes_with_any_right() -> None:
    documents = list(rights.in_manifests("rbac"))
    before = version.stamp("1.0", documents)
    less = [
        {**each, "rules": each["rules"][1:]} if each["kind"] == "ClusterRole" else each
        for each in documents
    ]
    assert before.startswith("1.0-")
    assert before == version.stamp("1.0", list(reversed(documents))) != version.stamp("1.0", less)
    unbound = [each for each in documents if not each["kind"].endswith("PolicyBinding")]
    assert version.stamp("1.0", unbound) != before


POLICIES = ("evenkeel-departures", "evenkeel-events", "evenkeel-writes")


def test_roles_that_nobody_holds_are_no_broken_link() -> None:
    found = policies.judge({}, {}, "1")
    check(found, NOT_LOOKED, "all that RBAC lets it", "--policies audit")


def test_policies_stand_with_their_bindings_in_this_version() -> None:
    there, denied = dict.fromkeys(POLICIES, "1"), dict.fromkeys(POLICIES, frozenset({"Deny"}))
    check(policies.judge(there, denied, "1"), FINE, "holds each role")
    noted = denied | {POLICIES[0]: frozenset({"Audit"})}
    check(policies.judge(there, noted, "1"), FINE, f"{POLICIES[0]}: what it would refuse is noted")
    old = there | {POLICIES[1]: ""}
    check(policies.judge(old, denied, "1"), BROKEN, "may refuse what the code writes", "upgrade")
    for one in POLICIES:
        unbound = {name: each for name, each in denied.items() if name != one}
        check(policies.judge(there, unbound, "1"), BROKEN, one, "evenkeel upgrade")
        less = {name: each for name, each in there.items() if name != one}
        check(policies.judge(less, denied, "1"), BROKEN, one, "evenkeel upgrade")


SAID = Tried("a pod", ("evenkeel to spot: it is above its floor",))
FAILED = Tried("a pod", ("evenkeel did not place this pod (get namespace: 403)",))
UNASKED = Tried("a pod", ("another webhook says hello",))
FORBIDDEN = Tried("a pod", (), ForbiddenError("create pod: 403"))
INVALID = Tried("a pod", (), InvalidError("create pod: 422"))
REFUSED = Tried("a pod", SAID.warnings, ForbiddenError("exceeded quota"))


@pytest.mark.parametrize("link", webhook.DOCUMENTS)
@pytest.mark.parametrize(
    ("tried", "verdict", "said"),
    [
        ([SAID], FINE, "above its floor"),
        ([FORBIDDEN, REFUSED], FINE, "above its floor"),
        ([FAILED], BROKEN, "403"),
        ([UNASKED], BROKEN, "went on with a pod"),
        ([FORBIDDEN, UNASKED], BROKEN, "went on with a pod"),
        ([FORBIDDEN], UNKNOWN, "docs/troubleshoot.md"),
        ([INVALID], UNKNOWN, "422"),
    ],
)
def test_a_webhook_has_to_answer_the_api_server(
    link: str, tried: list[Tried], verdict: Verdict, said: str
) -> None:
    check(webhook.judge(link, tried), verdict, said)


URL = Place("example.com", 443, "")


@pytest.mark.parametrize(
    ("seen", "verdict", "said"),
    [
        (Seen(until=NOW + timedelta(days=8)), FINE, "until 2026-11-29"),
        (Seen(until=NOW + timedelta(days=6)), BROKEN, "ends on 2026-11-27"),
        (Seen(distrust="self-signed certificate"), BROKEN, "self-signed certificate"),
        (Seen(silence="timed out"), NOT_LOOKED, "timed out"),
    ],
)
def test_a_certificate_has_to_be_trusted_and_to_last(
    seen: Seen, verdict: Verdict, said: str
) -> None:
    check(certificate.judge(URL, seen, NOW), verdict, said)


METRICS = """\
# HELP apiserver_admission_webhook_fail_open_count [ALPHA] ...
apiserver_admission_webhook_fail_open_count{name="a.dev",type="admit"} 3
apiserver_admission_webhook_admission_duration_seconds_count{name="a.dev",operation="CREATE"} 150
apiserver_admission_webhook_admission_duration_seconds_count{name="a.dev",operation="UPDATE"} 50
apiserver_admission_webhook_admission_duration_seconds_count{name="b.dev",operation="CREATE"} 7
process_start_time_seconds 1.795e+09
"""


def test_reviews_without_an_answer_are_counted_by_the_api_server() -> None:
    found = unasked.parse(METRICS)
    assert found.by_webhook == {"a.dev": Counts(200, 3), "b.dev": Counts(7, 0)}
    assert found.since == datetime.fromtimestamp(1795000000, UTC)


def test_few_reviews_may_go_unanswered() -> None:
    check(unasked.judge("a.dev", Counts(200, 3), NOW), BROKEN, "3 of 200 calls since 2026-11-21")
    check(unasked.judge("a.dev", Counts(200, 2), None), FINE, "2 of 200 calls")
    check(unasked.judge("a.dev", Counts(), None), FINE, "0 of 0 calls")


@pytest.mark.parametrize(
    ("seconds", "verdict", "said"),
    [
        (4, FINE, "within seconds"),
        (-4, FINE, "within seconds"),
        (6, BROKEN, "6 s ahead of"),
        (-400, BROKEN, "400 s behind"),
    ],
)
def test_the_clock_here_has_to_be_right(seconds: int, verdict: Verdict, said: str) -> None:
    check(clocks.judge_here(NOW + timedelta(seconds=seconds), NOW), verdict, said)


def test_a_server_without_a_clock_tells_nothing() -> None:
    check(clocks.judge_here(NOW, None), UNKNOWN)


@pytest.mark.parametrize(
    ("noted", "verdict", "said"),
    [
        ("0", FINE, "within seconds"),
        ("-5", FINE, "within seconds"),
        ("20", BROKEN, "20 s ahead"),
        ("-15", BROKEN, "15 s behind"),
        ("much", NOT_LOOKED, "nothing was handed over yet"),
        ("9" * 20, NOT_LOOKED, "nothing was handed over yet"),
        ("", NOT_LOOKED, "nothing was handed over yet"),
    ],
)
def test_the_lease_tells_of_a_wrong_clock(noted: str, verdict: Verdict, said: str) -> None:
    metadata = Metadata(name="evenkeel-handover", annotations={names.CLOCK_AHEAD: noted})
    check(clocks.judge_reconciler(Lease(metadata=metadata)), verdict, said)


def test_no_lease_tells_nothing_of_a_clock() -> None:
    check(clocks.judge_reconciler(None), NOT_LOOKED)
