"""The half in AWS as it is asked: moto plays what it can, scripted clients the rest."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from moto import mock_aws

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.aws import asking, eks
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.doctor.aws import checks
from evenkeel_cli.doctor.aws.checks import Wanted
from evenkeel_cli.doctor.aws.facts import HOOKS_RULE, AwsFacts
from evenkeel_cli.doctor.aws.facts import RULES as USUAL
from evenkeel_cli.doctor.check import Finding, Verdict, look
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.aws_clients import STACK, Scripted, a_stack, refusal, resources
from tests.kit.clusters import ENDPOINT, a_cluster
from tests.kit.manifests import resource
from tests.unit.cli.doctor.checking import BROKEN, FINE, NOT_LOOKED, UNKNOWN, check

REGION = "eu-central-1"
ACCOUNT = "123456789012"
WANTED = Wanted(stack=STACK, cluster="prod", is_guessed=True)
ROLE = f"arn:aws:iam::{ACCOUNT}:role/{{}}"
FUNCTIONS = ("Interruption", "Handover", "Restore")
RULES = {rule: f"{STACK}-{rule}" for rule in (*USUAL, HOOKS_RULE)}


def moto(service: str, region: str = REGION) -> Any:
    return boto3.Session(region_name=region).client(service)  # type: ignore[call-overload]


class Site:
    """A stack in a moto AWS, all of which works; a test breaks one thing of it."""

    def __init__(self) -> None:
        self.events, self.sqs, self.cloudwatch = map(moto, ("events", "sqs", "cloudwatch"))
        self.url = {
            queue: self.sqs.create_queue(QueueName=f"{STACK}-{queue}")["QueueUrl"]
            for queue in ("NoticeQueue", "NoticeDeadLetters", "WakeUpQueue", "WakeUpDeadLetters")
        }
        arns = [
            self.events.put_rule(Name=rule, EventPattern='{"source": ["aws.ec2"]}')["RuleArn"]
            for rule in RULES.values()
        ]
        for rule in RULES.values():
            target = {"Id": "notices", "Arn": self.arn("NoticeQueue")}
            self.events.put_targets(Rule=rule, Targets=[target])
        for queue in ("NoticeQueue", "NoticeDeadLetters"):
            statement = {
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": self.arn(queue),
                "Condition": {"ArnEquals": {"aws:SourceArn": arns}},
            }
            policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
            self.sqs.set_queue_attributes(QueueUrl=self.url[queue], Attributes={"Policy": policy})
        self.cloudformation = Scripted(
            {"describe_stacks": self._stacks, "list_stack_resources": self._resources}
        )
        self.status = "CREATE_COMPLETE"
        self.parameters = {
            "AccessEntries": "true",
            "ClusterEndpoint": ENDPOINT,
            "LifecycleHook": "evenkeel",
        }
        self.mapping = "Enabled"
        self.lambda_ = Scripted({"list_event_source_mappings": self._mappings})
        self.eks = Scripted(
            {
                "describe_access_entry": self._entry,
                "describe_cluster": a_cluster(mode="API_AND_CONFIG_MAP"),
            }
        )
        self.cluster = SimulatedCluster(SimulatedClock(SystemClock().now()))
        for function in FUNCTIONS:
            self.count("AWS/Lambda", "Invocations", FunctionName=f"the-{function}Function")
        self.count("Evenkeel", "ProbesAnswered", cluster="prod")

    def arn(self, queue: str) -> str:
        return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{STACK}-{queue}"

    def count(self, namespace: str, metric: str, minutes: float = 6, **dimensions: str) -> None:
        at = SystemClock().now() - timedelta(minutes=minutes)
        named = [{"Name": name, "Value": value} for name, value in dimensions.items()]
        datum = {"MetricName": metric, "Dimensions": named, "Value": 1.0, "Timestamp": at}
        self.cloudwatch.put_metric_data(Namespace=namespace, MetricData=[datum])

    def _stacks(self, **_: Any) -> Any:
        stack = a_stack(
            {f"{each}RoleArn": ROLE.format(each) for each in FUNCTIONS}, **self.parameters
        )
        long_ago = datetime(2026, 1, 1, tzinfo=UTC)
        return {"Stacks": [stack | {"StackStatus": self.status, "CreationTime": long_ago}]}

    def _resources(self, *, NextToken: str = "", **_: Any) -> Any:  # noqa: N803 - AWS's name
        """Two pages."""
        functions = {f"{each}Function": f"the-{each}Function" for each in FUNCTIONS}
        page = resources(functions if NextToken else self.url | RULES)
        more = {} if NextToken else {"NextToken": "more"}
        return {"StackResourceSummaries": page, **more}

    def _mappings(self, *, FunctionName: str) -> Any:  # noqa: N803 - AWS's name
        queue = "NoticeQueue" if "Interruption" in FunctionName else "WakeUpQueue"
        mapping = {"UUID": "u", "EventSourceArn": self.arn(queue), "State": self.mapping}
        return {"EventSourceMappings": [mapping]}

    def _entry(self, *, clusterName: str, principalArn: str) -> Any:  # noqa: N803 - AWS's names
        assert clusterName == "prod"
        group = f"evenkeel-{principalArn.rpartition('/')[2].lower()}"
        return {"accessEntry": {"kubernetesGroups": [group]}}

    def client(self, service: str) -> Any:
        name = "lambda_" if service == "lambda" else service
        return getattr(self, name)

    def findings(self, wanted: Wanted = WANTED) -> dict[str, Finding]:
        aws = Aws(REGION, self.client)
        stack = checks.find_stack(aws, wanted)
        if isinstance(stack, Finding):
            return {stack.link: stack}
        facts = AwsFacts(aws, stack, self.cluster, SystemClock())
        up = checks.stack_is_up(stack, wanted.cluster)
        every = {each.link: each for each in (up, *look(checks.CHECKS, facts))}
        assert all(e.remedy for e in every.values() if e.verdict in (BROKEN, UNKNOWN)), every
        return every

    def not_fine(self) -> dict[str, Finding]:
        return {link: e for link, e in self.findings().items() if e.verdict is not FINE}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield Site()


def test_every_link_is_fine_where_all_works(site: Site) -> None:
    found = site.findings()
    assert {each.verdict for each in found.values()} == {FINE}, found
    assert list(found) == [
        "stack",
        *(f"rule {rule}" for rule in RULES),
        "policy NoticeQueue",
        "policy NoticeDeadLetters",
        "NoticeDeadLetters",
        "WakeUpDeadLetters",
        "queue of interruption",
        "queue of handover",
        "calls of interruption",
        "calls of handover",
        "calls of restore",
        "probe",
        "access of interruption",
        "access of handover",
        "access of restore",
        "network of functions",
    ]


def only(site: Site, *links: str, verdict: Verdict = BROKEN) -> None:
    """These links are so, and all others hold."""
    found = site.not_fine()
    assert set(found) == set(links), found
    assert {each.verdict for each in found.values()} == {verdict}


ACCESS = tuple(f"access of {each.lower()}" for each in FUNCTIONS)


def lose_letters(site: Site, queue: str) -> None:
    site.sqs.send_message(QueueUrl=site.url[queue], MessageBody="lost")


def drop_policy(site: Site) -> None:
    site.sqs.set_queue_attributes(QueueUrl=site.url["NoticeQueue"], Attributes={"Policy": ""})


def drop_rule(site: Site, *, whole: bool) -> None:
    site.events.remove_targets(Rule=RULES["NoticeRule"], Ids=["notices"])
    if whole:
        site.events.delete_rule(Name=RULES["NoticeRule"])


def drop_entries(site: Site) -> None:
    site.eks.answers["describe_access_entry"] = refusal("ResourceNotFoundException")


def make_private(site: Site) -> None:
    cluster = a_cluster(mode="API_AND_CONFIG_MAP", endpointPublicAccess=False)
    site.eks.answers["describe_cluster"] = cluster


BREAKS: dict[str, tuple[Callable[[Site], object], Sequence[str]]] = {
    "a stack that did not roll back": (
        lambda site: setattr(site, "status", "UPDATE_ROLLBACK_FAILED"),
        ["stack"],
    ),
    "a rule without its target": (partial(drop_rule, whole=False), ["rule NoticeRule"]),
    "a deleted rule": (partial(drop_rule, whole=True), ["rule NoticeRule"]),
    "a queue without its policy": (drop_policy, ["policy NoticeQueue"]),
    "a notice that was lost": (
        partial(lose_letters, queue="NoticeDeadLetters"),
        ["NoticeDeadLetters"],
    ),
    "a wake-up that was lost": (
        partial(lose_letters, queue="WakeUpDeadLetters"),
        ["WakeUpDeadLetters"],
    ),
    "a disabled event source": (
        lambda site: setattr(site, "mapping", "Disabled"),
        ["queue of interruption", "queue of handover"],
    ),
    "an error of a function": (
        lambda site: site.count("AWS/Lambda", "Errors", FunctionName="the-HandoverFunction"),
        ["calls of handover"],
    ),
    "a role without an access entry": (drop_entries, ACCESS),
    "an endpoint that is private": (make_private, ["network of functions"]),
}


@pytest.mark.parametrize("what", BREAKS)
def test_it_is_broken_and_all_else_holds(what: str, site: Site) -> None:
    break_it, links = BREAKS[what]
    break_it(site)
    only(site, *links)


@pytest.mark.parametrize("rule", RULES)
def test_a_disabled_rule_is_broken_whichever_it_is(rule: str, site: Site) -> None:
    site.events.disable_rule(Name=RULES[rule])
    only(site, f"rule {rule}")


def test_the_rule_of_a_hook_is_looked_at_only_where_a_hook_is_named(site: Site) -> None:
    site.parameters["LifecycleHook"] = ""
    assert "rule LifecycleActionRule" not in site.findings()


def test_invocations_and_probes_that_ended_are_broken(site: Site) -> None:
    site.cloudwatch = moto("cloudwatch", "eu-west-1")
    for function, minutes in zip(FUNCTIONS, (6, 6, 40), strict=True):
        name = f"the-{function}Function"
        site.count("AWS/Lambda", "Invocations", minutes, FunctionName=name)
    site.count("Evenkeel", "ProbesAnswered", minutes=40, cluster="prod")
    only(site, "calls of restore", "probe")


def test_aws_auth_counts_where_there_are_no_access_entries(site: Site) -> None:
    site.parameters["AccessEntries"] = "false"
    only(site, *ACCESS)
    lines = [
        {"rolearn": ROLE.format(each), "groups": [f"evenkeel-{each.lower()}"]}
        for each in FUNCTIONS[1:]
    ]
    site.cluster.apply(
        resource("ConfigMap", "aws-auth", "kube-system", data={"mapRoles": json.dumps(lines)})
    )
    only(site, "access of interruption")


def test_aws_auth_that_cannot_be_read_maps_nobody(site: Site) -> None:
    site.parameters["AccessEntries"] = "false"
    site.cluster.apply(resource("ConfigMap", "aws-auth", "kube-system", data={"mapRoles": "- [a"}))
    only(site, *ACCESS)


@pytest.mark.parametrize(
    ("service", "method", "links"),
    [
        ("eks", "describe_access_entry", set(ACCESS)),
        ("eks", "describe_cluster", {"EKS cluster"}),
        (
            "lambda_",
            "list_event_source_mappings",
            {"queue of interruption", "queue of handover"},
        ),
        ("cloudwatch", "get_metric_data", {"calls of functions"}),
        ("events", "describe_rule", {f"rule {rule}" for rule in RULES}),
        ("cloudformation", "describe_stacks", {"stack"}),
    ],
)
@pytest.mark.parametrize(
    "error",
    [refusal("AccessDeniedException"), ConnectTimeoutError(endpoint_url="https://aws")],
    ids=["refused", "silent"],
)
def test_what_a_missing_permission_hides_is_unknown(
    service: str, method: str, links: set[str], error: Exception, site: Site
) -> None:
    if service == "eks":
        site.eks.answers[method] = error
    else:
        setattr(site, service, Scripted({method: error}))
    if service == "events":
        site.events.answers["list_targets_by_rule"] = error
    found = site.not_fine()
    assert set(found) == links
    for each in found.values():
        check(each, UNKNOWN)
        says_rights = "docs/troubleshoot.md" in each.remedy
        assert says_rights == isinstance(error, ClientError)


def test_without_a_stack_nothing_of_aws_is_looked_at(site: Site) -> None:
    (found,) = site.findings(Wanted()).values()
    check(found, NOT_LOOKED, "no stack was named")
    missing = refusal("ValidationError", f"Stack with id {STACK} does not exist")
    site.cloudformation.answers["describe_stacks"] = missing
    (found,) = site.findings().values()
    check(found, NOT_LOOKED, f"there is no stack {STACK} in {REGION}")
    (found,) = site.findings(Wanted(stack=STACK)).values()
    check(found, BROKEN, f"there is no stack {STACK} in {REGION}")


@pytest.mark.usefixtures("site")
def test_without_credentials_nothing_of_aws_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_REGION", raising=False)
    without_region = asking.of_environment()
    assert without_region == "no AWS region is named: set AWS_REGION"
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    without = asking.of_environment()
    assert isinstance(without, str)
    assert without.startswith("there are no AWS credentials that can be used: ")
    found = checks.find_stack(without, WANTED)
    assert isinstance(found, Finding)
    check(found, NOT_LOOKED, "no AWS credentials")


def test_an_answer_of_another_shape_is_unknown(site: Site) -> None:
    site.lambda_.answers["list_event_source_mappings"] = {"EventSourceMappings": 7}
    found = site.not_fine()
    assert set(found) == {"queue of interruption", "queue of handover"}
    check(found["queue of handover"], UNKNOWN, "not the answer of AWS")


def test_clients_are_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    made = asking.of_environment()
    assert isinstance(made, Aws)
    config: Any = made._make_client("sqs").meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 2)


def test_eks_tells_where_the_cluster_is() -> None:
    described: dict[str, Any] = {"endpoint": "http://prod", "certificateAuthority": {"data": "!"}}
    scripted = Scripted({"describe_cluster": {"cluster": described}})
    aws = Aws(REGION, lambda _: scripted)
    with pytest.raises(UnmetError, match=r"EKS cluster prod: the endpoint 'http://prod' should"):
        eks.connect(aws, "prod", eks.describe(aws, "prod"), timedelta(seconds=1))
    scripted.answers["describe_cluster"] = refusal("ResourceNotFoundException")
    with pytest.raises(BadInputError, match=f"no EKS cluster prod in {REGION}"):
        eks.connect(aws, "prod", eks.describe(aws, "prod"), timedelta(seconds=1))
    scripted.answers["describe_cluster"] = refusal("AccessDeniedException")
    with pytest.raises(UnmetError, match="or name a --context"):
        eks.connect(aws, "prod", eks.describe(aws, "prod"), timedelta(seconds=1))
