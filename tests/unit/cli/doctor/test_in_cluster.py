"""Each link in the cluster, judged: one that holds, and one for each way in which it may not."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import ForbiddenError, InvalidError
from evenkeel.model import names
from evenkeel.model.balancers import TargetGroupBinding
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.instance import INTERRUPTIBLE, Instance
from evenkeel.model.meta import Metadata, Reference
from evenkeel.model.node import Node, NodeMetadata, NodeSpec
from evenkeel_cli.doctor import rights
from evenkeel_cli.doctor.check import Finding, Verdict
from evenkeel_cli.doctor.cluster import certificate, checks, drainers, dry_runs, nodes
from evenkeel_cli.doctor.cluster.answers import CALLS, FAIL_OPEN, Metrics, parsed
from evenkeel_cli.doctor.cluster.certificate import Place
from evenkeel_cli.doctor.cluster.dry_runs import Tried
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Container, Known, Variable
from evenkeel_cli.doctor.rights import Right, Subject
from evenkeel_cli.explain.drainers import Drainer
from evenkeel_cli.pausing import Pause
from tests.kit.clocks import NOW
from tests.unit.cli.doctor.checking import BROKEN, FINE, NOT_LOOKED, UNKNOWN, check, in_cluster


def test_a_pause_breaks_the_chain() -> None:
    check(checks.pause(in_cluster({"pause": None})), FINE)
    present = Pause(subject=Reference(kind="ConfigMap", name="evenkeel-paused"), by="ada")
    check(checks.pause(in_cluster({"pause": present})), BROKEN, "paused by ada")


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


def given(found: list[Node], known: dict[str, Instance] | None) -> ClusterFacts:
    return in_cluster({"nodes": found, "instances": known})


def test_nodes_have_to_say_which_instance_they_are() -> None:
    assert list(nodes.instances(given([SPOT, BARE], None))) == []
    found = nodes.instances(given([SPOT, Node(metadata=NodeMetadata(name="d"))], None))
    check(found, BROKEN, "1 node (d) without spec.providerID")


def test_a_node_without_a_tag_has_to_be_called_what_ec2_calls_it() -> None:
    tags = {"kubernetes.io/cluster/prod": "owned"}
    running = Instance(instance_id="i-a", state="running", private_dns_name="ip-10-0-0-1")
    for fine in (
        {"i-a": msgspec.structs.replace(running, tags=tags)},
        {"i-a": msgspec.structs.replace(running, private_dns_name="a")},
        {},
    ):
        assert list(nodes.instances(given([SPOT], fine))) == []
    found = nodes.instances(given([SPOT], {"i-a": running}))
    check(found, BROKEN, "the instances of 1 node (a) have no cluster's tag", "kubernetes.io")


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
    check(nodes.capacity_labels(given(found, known)), verdict, said)


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
    check(nodes.spot(given(found, known)), verdict, said)


def bindings(*namespaces: str) -> list[TargetGroupBinding]:
    spec = {"targetType": "ip", "serviceRef": {"name": "web"}}
    found = ({"metadata": {"name": "b", "namespace": each}, "spec": spec} for each in namespaces)
    return [msgspec.convert(each, TargetGroupBinding) for each in found]


def gated(name: str) -> Namespace:
    metadata = Metadata(name=name, labels={names.READINESS_GATES: "enabled"})
    return Namespace(metadata=metadata)


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        (bindings("a"), FINE, "targets of a load balancer in 1 namespace, and have them"),
        (bindings("a", "b", "b"), NOT_LOOKED, "none in b, where pods are targets"),
        (bindings(*"vwxyz"), NOT_LOOKED, "none in v, w, x and 2 more, where pods are targets"),
    ],
)
def test_pods_that_are_targets_should_have_readiness_gates(
    found: list[TargetGroupBinding], verdict: Verdict, said: str
) -> None:
    facts = in_cluster({"bindings": found, "namespaces": [gated("a")]})
    check(checks.targets(facts), verdict, said)


def test_without_such_targets_nothing_is_said_of_readiness_gates() -> None:
    assert list(checks.targets(in_cluster({"bindings": (), "namespaces": ()}))) == []


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
    of = [by_variable, by_flag, Container(env=None)]
    assert drainers.queues_of(of) == ["one", "two"]
    assert drainers.queues_of(of[2:]) == []
    assert drainers.queues_of([]) is None


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


def of_role(subject: Subject, wanted: list[Right], refused: list[Right]) -> Iterator[Finding]:
    known = {"granted": {subject: wanted}, "refused": {subject: refused} if refused else {}}
    return checks.role_rights(in_cluster(known))


def test_a_missing_right_is_named_with_what_grants_it() -> None:
    check(of_role(GROUP, [OF_RBAC, OF_GATE], []), FINE, "all 2 things")
    check(of_role(GROUP, [OF_RBAC, OF_GATE], [OF_GATE]), BROKEN, str(OF_GATE))


def test_the_webhook_in_the_cluster_is_asked_for_as_its_service_account() -> None:
    account = Subject("ServiceAccount", "evenkeel-serve", "evenkeel-system")
    assert account.to_wire()["user"] == "system:serviceaccount:evenkeel-system:evenkeel-serve"
    many = [Right("get", "", f"r{number}") for number in range(5)]
    named = "the service account evenkeel-system/evenkeel-serve: get r0, get r1, get r2, and 2 more"
    check(of_role(account, many, many), BROKEN, named)


HERE = rights.of_command()
ROLES: dict[str, str | None] = dict.fromkeys(rights.ROLES, HERE)


def of_version(roles: dict[str, str | None], code: str | None = None) -> ClusterFacts:
    """A cluster with these roles, none of the gate, and the stack's code."""
    known = {("role", name): version for name, version in roles.items()}
    return in_cluster(known | {("hook", "gate"): None}, Known(of_code=code))


@pytest.mark.parametrize(
    ("changed", "verdict", "said"),
    [
        ({}, FINE, HERE),
        ({"evenkeel-restore": "1"}, BROKEN, f"evenkeel-restore: 1, and this command has {HERE}"),
        ({"evenkeel-restore": ""}, BROKEN, "evenkeel-restore: no version"),
        ({"evenkeel-restore": None}, BROKEN, "there is no ClusterRole evenkeel-restore"),
    ],
)
def test_rights_have_to_be_those_of_this_command(
    changed: dict[str, str | None], verdict: Verdict, said: str
) -> None:
    check(checks.version_of_rights(of_version(ROLES | changed)), verdict, said)


def test_code_has_to_be_of_the_version_of_the_rights() -> None:
    check(checks.version_of_code(of_version(ROLES, HERE)), FINE)
    wrong = checks.version_of_code(of_version(ROLES, "2"))
    check(wrong, BROKEN, f"code has 2, the rights have {HERE}")
    check(checks.version_of_code(of_version(ROLES, "")), UNKNOWN, "it is older")


def test_the_version_changes_with_any_right() -> None:
    documents = list(rights.in_manifests("rbac"))
    before = rights.stamp("1.0", documents)
    less = [
        {**each, "rules": each["rules"][1:]} if each["kind"] == "ClusterRole" else each
        for each in documents
    ]
    assert before.startswith("1.0-")
    assert before == rights.stamp("1.0", list(reversed(documents))) != rights.stamp("1.0", less)
    unbound = [each for each in documents if not each["kind"].endswith("PolicyBinding")]
    assert rights.stamp("1.0", unbound) != before


POLICIES = ("evenkeel-departures", "evenkeel-events", "evenkeel-writes")


def held_by(found: dict[str, str], actions: dict[str, Any]) -> Finding:
    return checks.policies(in_cluster({"policies": found, "actions": actions}))


def test_roles_that_nobody_holds_are_no_broken_link() -> None:
    check(held_by({}, {}), NOT_LOOKED, "all that RBAC lets it", "--policies audit")


def test_policies_stand_with_their_bindings_in_this_version() -> None:
    there, denied = dict.fromkeys(POLICIES, HERE), dict.fromkeys(POLICIES, frozenset({"Deny"}))
    check(held_by(there, denied), FINE, "holds each role")
    noted = denied | {POLICIES[0]: frozenset({"Audit"})}
    check(held_by(there, noted), FINE, f"{POLICIES[0]}: what it would refuse is noted")
    old = there | {POLICIES[1]: ""}
    check(held_by(old, denied), BROKEN, "may refuse what the code writes")
    for one in POLICIES:
        unbound = {name: each for name, each in denied.items() if name != one}
        check(held_by(there, unbound), BROKEN, one)
        less = {name: each for name, each in there.items() if name != one}
        check(held_by(less, denied), BROKEN, one)


SAID = Tried("a pod", ("evenkeel to spot: it is above its floor",))
FAILED = Tried("a pod", ("evenkeel did not place this pod (get namespace: 403)",))
UNASKED = Tried("a pod", ("another webhook says hello",))
FORBIDDEN = Tried("a pod", (), ForbiddenError("create pod: 403"))
INVALID = Tried("a pod", (), InvalidError("create pod: 422"))
REFUSED = Tried("a pod", SAID.warnings, ForbiddenError("exceeded quota"))


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
    tried: list[Tried], verdict: Verdict, said: str
) -> None:
    check(dry_runs.judge(tried), verdict, said)


URL = Place("example.com", 443, "")


@pytest.mark.parametrize(
    ("days", "verdict", "said"),
    [(8, FINE, "until 2026-11-29"), (6, BROKEN, "ends on 2026-11-27")],
)
def test_a_certificate_has_to_last(days: int, verdict: Verdict, said: str) -> None:
    check(certificate.judge(URL, NOW + timedelta(days=days), NOW), verdict, said)


METRICS = """\
# HELP apiserver_admission_webhook_fail_open_count [ALPHA] ...
apiserver_admission_webhook_fail_open_count{name="a.dev",type="admit"} 3
apiserver_admission_webhook_admission_duration_seconds_count{name="a.dev",operation="CREATE"} 150
apiserver_admission_webhook_admission_duration_seconds_count{name="a.dev",operation="UPDATE"} 50
apiserver_admission_webhook_admission_duration_seconds_count{name="b.dev",operation="CREATE"} 7
process_start_time_seconds 1.795e+09
"""


def test_reviews_without_an_answer_are_counted_by_the_api_server() -> None:
    found = parsed(METRICS.encode())
    assert found == Metrics(
        datetime.fromtimestamp(1795000000, UTC), {"a.dev": 200, "b.dev": 7}, {"a.dev": 3}
    )


@pytest.mark.parametrize(
    ("calls", "unanswered", "verdict", "said"),
    [
        (200, 3, BROKEN, "3 of 200 calls since 2026-11-18 11:06Z, and went on"),
        (200, 2, FINE, "2 of 200 calls since"),
        (0, 0, FINE, "0 of 0 calls since"),
    ],
)
def test_few_reviews_may_go_unanswered(
    calls: int, unanswered: int, verdict: Verdict, said: str
) -> None:
    text = f'process_start_time_seconds 1.795e+09\n{FAIL_OPEN}{{name="a.dev"}} {unanswered}\n'
    text += f'{CALLS}{{name="a.dev"}} {calls}\n'
    check(checks.unanswered("a.dev", parsed(text.encode())), verdict, said)


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
    check(checks.clock_here(NOW + timedelta(seconds=seconds), NOW), verdict, said)


def test_a_server_without_a_clock_tells_nothing() -> None:
    check(checks.clock_here(NOW, None), UNKNOWN)


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
    check(checks.clock_of_reconciler(Lease(metadata=metadata)), verdict, said)


def test_no_lease_tells_nothing_of_a_clock() -> None:
    check(checks.clock_of_reconciler(None), NOT_LOOKED)


def seats(*, has_class: bool, policies: Sequence[str], bound: Sequence[str]) -> Finding:
    given = {
        "has_seat_class": has_class,
        "policies": dict.fromkeys(policies, HERE),
        "actions": dict.fromkeys(bound, ("Deny",)),
    }
    return checks.seats(in_cluster(given))


def test_seats_need_their_priority_and_handover_is_held_to_them() -> None:
    only = [checks.SEATS]
    check(seats(has_class=True, policies=only, bound=only), FINE)
    without = seats(has_class=False, policies=only, bound=only)
    check(without, BROKEN, "no PriorityClass evenkeel-seat: no seat is made")
    for policies, bound in ((only, []), ([], only)):
        loose = seats(has_class=True, policies=policies, bound=bound)
        check(loose, BROKEN, "handover may make any pod in evenkeel-system")
