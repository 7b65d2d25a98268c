"""Each kind of cluster that EKS describes, and what install and doctor tell of it."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, cast

import pytest
from click.testing import CliRunner

from evenkeel.model import names
from evenkeel.model.node import Node, NodeMetadata, NodeSpec
from evenkeel.settings import Mode
from evenkeel_cli.aws import eks
from evenkeel_cli.aws import stack as stacks
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.aws import checks
from evenkeel_cli.doctor.aws.facts import AwsFacts
from evenkeel_cli.doctor.check import Finding, look
from evenkeel_cli.doctor.cluster import drainers, nodes
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import network as installing
from evenkeel_cli.install import others, plan
from evenkeel_cli.install.choices import Asked, Choices, Webhook, made
from evenkeel_cli.install.site import Place, Site
from evenkeel_cli.main import main
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.api_server import HandClock
from tests.kit.aws_clients import Scripted, a_stack, refusal
from tests.kit.clocks import NOW
from tests.kit.clusters import (
    CLUSTERS,
    ENDPOINT,
    NAT,
    REGION,
    a_table,
    an_endpoint,
    described,
)
from tests.kit.manifests import resource
from tests.unit.cli.doctor.checking import BROKEN, FINE, NOT_LOOKED, UNKNOWN, check, in_cluster
from tests.unit.cli.install.keeping import Account, Kept

IMAGE = "reg/evenkeel:1"
INSIDE = {"SubnetIds": "subnet-a,subnet-b", "SecurityGroupIds": "sg-cluster"}
PROPOSED = "--parameter SubnetIds=subnet-a,subnet-b --parameter SecurityGroupIds=sg-cluster"
ROLE = "arn:aws:iam::123456789012:role/evenkeel-x"
OUTPUTS = {"PlacementUrl": "https://x", "HandoverRoleArn": ROLE}


def aws_of(kind: str, ec2: Mapping[str, Any] | None = None, stack: Any = None) -> Aws:
    """An account with a cluster of this kind; ``ec2`` are EC2's answers, else with a way out."""
    entry = {"accessEntry": {"kubernetesGroups": ["evenkeel-handover"]}}
    clients: dict[str, Any] = {
        "eks": Scripted(
            {
                "describe_cluster": CLUSTERS[kind],
                "list_nodegroups": {"nodegroups": []},
                "describe_access_entry": entry,
            }
        ),
        "ec2": Scripted(dict(ec2 or described([a_table(NAT)]))),
    }
    return Aws(REGION, lambda service: clients.get(service, Account(stack)))


class Located(SimulatedCluster):
    """One that is asked only what the port has a request for."""

    transport = cast("Any", None)


def site_of(aws: Aws, *objects: Any, **place: str) -> Site:
    clock = SimulatedClock(NOW)
    cluster = Located(clock)
    for each in objects:
        cluster.apply(each)
    clock.sleep(timedelta(seconds=1))
    where = Place("prod", **cast("Any", place))
    found = eks.describe(aws, "prod")
    kept = cast("Any", Kept())
    return Site(where, aws, found, cast("Any", cluster), kept, HandClock(), print)


def chosen(site: Site, stack: Any = None, **asked: Any) -> Choices:
    return made(Asked(image=IMAGE, **asked), stack, site.objects, site.described.control_plane)


def told(kind: str, aws: Aws | None = None, **asked: Any) -> installing.Looked:
    site = site_of(aws or aws_of(kind))
    return installing.look(site, chosen(site, **asked), site.stack())


def given(**parameters: str) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in parameters.items())


# Install


@pytest.mark.parametrize(
    ("kind", "webhook", "obstacle", "entries"),
    [
        ("public", Webhook.LAMBDA, "", "true"),
        ("CIDR list", Webhook.LAMBDA, "lets in 203.0.113.0/24", "true"),
        ("CIDR list without private access", Webhook.LAMBDA, "NAT gateway whose", "true"),
        ("private", Webhook.LAMBDA, "its endpoint is private", "true"),
        ("routed egress", Webhook.IN_CLUSTER, "", "true"),
        ("isolated egress", Webhook.IN_CLUSTER, "its endpoint is private", "true"),
        ("Auto Mode", Webhook.LAMBDA, "", "true"),
        ("Fargate only", Webhook.LAMBDA, "", "true"),
        ("CONFIG_MAP authentication", Webhook.LAMBDA, "", "false"),
    ],
)
def test_install_chooses_and_refuses_by_the_kind_of_cluster(
    kind: str, webhook: Webhook, obstacle: str, entries: str
) -> None:
    """With the parameters that it proposes nothing is in its way."""
    site = site_of(aws_of(kind))
    choices = chosen(site)
    assert choices.webhook is webhook
    assert plan.parameters(site, choices)["AccessEntries"] == entries
    looked = installing.look(site, choices, None)
    if obstacle:
        assert obstacle in looked.obstacle
        with pytest.raises(BadInputError, match=f"add {PROPOSED} to evenkeel install"):
            looked.check()
    else:
        assert looked == installing.Looked()
    told(kind, parameters=given(**INSIDE)).check()


@pytest.mark.parametrize("kind", CLUSTERS)
def test_subnets_that_lead_nowhere_are_told_of_each_kind_of_cluster(kind: str) -> None:
    """Whatever was given stays where it is: an endpoint may be in a network beside."""
    stuck = aws_of(kind, described([a_table()]))
    webhook = Webhook.NONE
    looked = told(kind, stuck, webhook=webhook, parameters=given(**INSIDE))
    looked.check()
    services = [each.partition(":")[0] for each in looked.sentences if "com.amazonaws" in each]
    assert services == ["ec2", "sqs"]
    every = [an_endpoint("ec2"), an_endpoint("sqs")]
    good = told(
        kind,
        aws_of(kind, described([a_table()], every)),
        webhook=webhook,
        parameters=given(**INSIDE),
    )
    has_private_access = kind != "CIDR list without private access"
    assert bool(good.sentences) is not has_private_access


def test_the_webhook_on_lambda_and_a_lifecycle_hook_need_more() -> None:
    looked = told(
        "private",
        aws_of("private", described([a_table()])),
        parameters=given(LifecycleHook="evenkeel", **INSIDE),
    )
    services = [each.partition(":")[0] for each in looked.sentences]
    assert services == ["autoscaling", "ec2", "secretsmanager", "sqs"]


def test_what_is_lacking_is_told_of_the_network_that_is_proposed() -> None:
    looked = told("private", aws_of("private", described([a_table()])))
    assert looked.obstacle
    assert len(looked.sentences) == 3


def test_what_ec2_may_not_tell_is_said_and_stops_nothing() -> None:
    aws = aws_of("private", {"describe_subnets": refusal("UnauthorizedOperation")})
    looked = told("private", aws, parameters=given(**INSIDE))
    looked.check()
    (said,) = looked.sentences
    assert "security groups were not looked at" in said
    assert PROPOSED in told("private", aws).obstacle


def test_the_stack_s_own_network_counts_unless_it_was_never_made() -> None:
    there = a_stack(OUTPUTS, **INSIDE)
    for status, is_refused in (("UPDATE_COMPLETE", False), ("ROLLBACK_COMPLETE", True)):
        site = site_of(aws_of("private", stack=there | {"StackStatus": status}))
        looked = installing.look(site, chosen(site), site.stack())
        assert bool(looked.obstacle) is is_refused


def test_half_a_network_is_refused_before_cloudformation_does() -> None:
    looked = told("public", parameters=given(SubnetIds="subnet-x"))
    with pytest.raises(BadInputError, match="SubnetIds=subnet-x --parameter SecurityGroupIds=sg-c"):
        looked.check()


def test_with_another_address_nothing_is_known_of_the_way_to_it() -> None:
    aws = aws_of("private", described([a_table()]))
    site = site_of(aws, endpoint="https://api.example.com", authority="x")
    assert installing.look(site, chosen(site), None) == installing.Looked()
    looked = installing.look(site, chosen(site, parameters=given(**INSIDE)), None)
    assert len(looked.sentences) == 3


def test_a_webhook_on_lambda_behind_routed_egress_is_told_about() -> None:
    (said,) = told("routed egress", webhook=Webhook.LAMBDA).sentences
    assert "CUSTOMER_ROUTED: the API server calls the webhook on Lambda by your network" in said
    stuck = aws_of("routed egress", described([a_table()]))
    (said,) = told("routed egress", stuck, webhook=Webhook.LAMBDA).sentences
    assert "no route to a NAT gateway leads out of the cluster's subnet-a, subnet-b" in said


@pytest.mark.parametrize("command", ["install", "upgrade"])
@pytest.mark.parametrize("how", [(), ("--apply",), ("--change-set",)], ids=str)
def test_the_command_ends_before_anything_is_done(
    command: str, how: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = a_stack({**OUTPUTS, "RightsVersion": "1"})
    aws = aws_of("private", described([a_table()]), stack=there)
    for module in ("install", "upgrade"):
        monkeypatch.setattr(
            f"evenkeel_cli.commands.{module}.opened", lambda *_: nullcontext(site_of(aws))
        )
        monkeypatch.setattr(f"evenkeel_cli.commands.{module}.build.made", lambda: None)
    done = CliRunner().invoke(main, [command, "--cluster-name", "prod", *how])
    assert done.exit_code == 2
    assert f"add {PROPOSED} to evenkeel install" in done.stderr
    assert "Network: sqs: there is no interface endpoint" in done.stdout
    assert "rights" not in done.stdout


FARGATE = resource("Node", "fargate-ip-10-0-0-1", labels={names.EKS_COMPUTE: "fargate"})


def test_install_names_auto_mode_and_nodes_without_notices() -> None:
    choices = Choices(Mode.ACT, Webhook.LAMBDA)
    auto = site_of(aws_of("Auto Mode"))
    (said,) = others.lines(others.look(auto, choices))
    assert said.startswith("Other drainers: EKS Auto Mode (the cluster's computeConfig.enabled)")
    fargate = site_of(aws_of("Fargate only"), FARGATE)
    said, other = others.lines(others.look(fargate, choices))
    assert said.startswith("Nodes: 1 node, and EC2 runs none of them (fargate)")
    assert other == "Other drainers: none is seen"


# Doctor


def the_stack(outputs: Mapping[str, str], **parameters: str) -> Stack:
    account = Account(a_stack(outputs, **parameters))
    found = stacks.gather(Aws(REGION, lambda _: account), "evenkeel-prod")
    assert found is not None
    return found


def findings(
    kind: str, parameters: Mapping[str, str] | None = None, aws: Aws | None = None
) -> Mapping[str, Finding]:
    usual = {"ClusterEndpoint": ENDPOINT, "Webhook": "true"}
    return of_stack(aws or aws_of(kind), the_stack(OUTPUTS, **usual | dict(parameters or {})))


def of_stack(aws: Aws, stack: Stack) -> Mapping[str, Finding]:
    """What is found of networks and roles' access."""
    clock = SimulatedClock(NOW)
    facts = AwsFacts(aws, stack, SimulatedCluster(clock), clock)
    looked = [each for each in checks.CHECKS if each.link.startswith(("network", "way", "access"))]
    return {each.link: each for each in look(looked, facts)}


@pytest.mark.parametrize(
    ("kind", "outside", "inside", "webhook"),
    [
        ("public", FINE, FINE, FINE),
        ("CIDR list", BROKEN, FINE, FINE),
        ("CIDR list without private access", BROKEN, UNKNOWN, FINE),
        ("private", BROKEN, FINE, FINE),
        ("routed egress", FINE, FINE, FINE),
        ("isolated egress", BROKEN, FINE, BROKEN),
        ("Auto Mode", FINE, FINE, FINE),
        ("Fargate only", FINE, FINE, FINE),
        ("CONFIG_MAP authentication", FINE, FINE, FINE),
    ],
)
def test_doctor_tells_the_same_by_the_kind_of_cluster(
    kind: str, outside: Any, inside: Any, webhook: Any
) -> None:
    found = findings(kind)
    said = f"evenkeel install {PROPOSED}" if outside is BROKEN else "open to all"
    check(found["network of functions"], outside, said)
    check(found["way to the webhook"], webhook)
    check(findings(kind, INSIDE)["network of functions"], inside)


def test_doctor_names_what_the_functions_lack() -> None:
    stuck = aws_of("private", described([a_table()]))
    found = findings("private", INSIDE, stuck)["network of functions"]
    check(found, BROKEN, "ec2: ", "secretsmanager: ", "sqs: ", "docs/install.md")
    stuck = aws_of("routed egress", described([a_table()]))
    found = findings("routed egress", aws=stuck)["way to the webhook"]
    check(found, BROKEN, "no route to a NAT gateway", "--webhook in-cluster")


def test_what_ec2_may_not_tell_the_doctor_is_unknown() -> None:
    refused = {"describe_subnets": refusal("UnauthorizedOperation")}
    found = findings("private", INSIDE, aws_of("private", refused))
    check(found["network of functions"], UNKNOWN, "docs/troubleshoot.md")
    found = findings("routed egress", aws=aws_of("routed egress", refused))
    check(found["way to the webhook"], UNKNOWN, "docs/troubleshoot.md")


def test_another_address_of_the_api_server_is_not_judged() -> None:
    other = {"ClusterEndpoint": "https://api.example.com"}
    check(findings("private", other)["network of functions"], NOT_LOOKED)
    check(findings("private", other | INSIDE)["network of functions"], FINE)


def test_a_stack_without_the_webhook_has_no_way_to_it() -> None:
    assert [*of_stack(aws_of("isolated egress"), the_stack({}))] == ["network of functions"]


@pytest.mark.parametrize(
    ("kind", "entries", "verdict", "said"),
    [
        ("public", "true", FINE, "its access entry names"),
        ("public", "false", BROKEN, "the cluster does not read that (API)"),
        ("CONFIG_MAP authentication", "true", BROKEN, "takes none (CONFIG_MAP)"),
        ("CONFIG_MAP authentication", "false", BROKEN, "aws-auth does not map"),
    ],
)
def test_a_role_gets_in_by_what_the_cluster_s_mode_knows(
    kind: str, entries: str, verdict: Any, said: str
) -> None:
    found = findings(kind, {"AccessEntries": entries})
    check(found["access of handover"], verdict, said)


def test_doctor_names_auto_mode_before_it_has_a_node() -> None:
    (found,) = drainers.told_by(eks.gather(aws_of("Auto Mode"), "prod"))
    assert found.name == "EKS Auto Mode"
    assert drainers.told_by(eks.gather(aws_of("public"), "prod")) == ()
    assert drainers.told_by(None) == ()


def a_node(name: str, kind: str = "") -> Node:
    """A node of this kind, else a spot instance."""
    labels = {names.EKS_COMPUTE: kind} if kind else {"node.kubernetes.io/capacity": "spot"}
    spec = NodeSpec(provider_id="" if kind else "aws:///x/i-1")
    return Node(metadata=NodeMetadata(name=name, labels=labels), spec=spec)


def test_nodes_that_are_no_instances_of_ec2_are_not_held_to_their_labels() -> None:
    alone = [a_node("f", "fargate"), a_node("h", "hybrid")]
    only = in_cluster({"nodes": alone, "instances": None})
    check(nodes.elsewhere(only), NOT_LOOKED, "2 nodes, and EC2 runs none of them (fargate, hybrid)")
    assert not nodes.may_have_notices(only)
    mixed = in_cluster({"nodes": [*alone, a_node("a")], "instances": None})
    assert not [*nodes.elsewhere(mixed), *nodes.instances(mixed)]
    assert nodes.may_have_notices(mixed)
    check(nodes.capacity_labels(mixed), FINE, "1 node with a label")
