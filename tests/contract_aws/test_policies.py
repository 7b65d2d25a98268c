"""The policies of the documentation hold what their commands call, and nothing else.

What the commands call in their tests is held to the same policies with the resources that it is
about (``tests/kit/documented.py``). Here is the rest: what no test calls, and what no code names.
"""

from typing import Any

import pytest

from evenkeel_cli.aws.asking import Aws, Nothing
from tests.kit import documented, iam
from tests.kit.documented import DOCTOR, HISTORY, INSTALL, WITHOUT_LAMBDA, Page
from tests.kit.iam import Policy, Right
from tests.kit.operations import SOURCES, adapters_of, named_in, reached_in

COMMANDS = SOURCES / "evenkeel_cli"
POLL = (SOURCES / "evenkeel_runtime" / "poll", COMMANDS / "commands" / "poll.py")
OF_PAGES = {
    INSTALL: (COMMANDS / "install",),
    DOCTOR: (COMMANDS / "doctor", COMMANDS / "commands" / "doctor.py"),
    HISTORY: (COMMANDS / "history",),
    WITHOUT_LAMBDA: POLL,
}
"""The sources of what a page's first policy is for."""

IN_ACCOUNT = f"arn:aws:{{}}:{iam.REGION}:{iam.ACCOUNT}:"
SHARED = COMMANDS / "aws"
"""Questions that several commands have."""


def used(page: Page) -> set[str]:
    """The actions that the operations take which a page's sources name, or reach."""
    places = OF_PAGES[page]
    operations = named_in(*places, *adapters_of(*places)) | reached_in(SHARED, *places)
    return {action for each in operations if (action := iam.action(*each)) is not None}


def passed() -> set[str]:
    """The actions that it takes to name the role of CloudFormation."""
    role = {"StackName": "evenkeel-prod", "RoleARN": "arn:aws:iam::123456789012:role/evenkeel-x"}
    return {each.action for each in iam.needed("cloudformation", "CreateChangeSet", role)}


@pytest.mark.parametrize("page", OF_PAGES, ids=str)
def test_every_operation_that_a_command_names_is_in_its_policy(page: Page) -> None:
    policy = Policy(page.policies()[0])
    assert {each for each in used(page) if not policy.names(each)} == set()


@pytest.mark.parametrize("page", OF_PAGES, ids=str)
def test_a_policy_gives_no_right_that_its_command_can_spare(page: Page) -> None:
    policy = Policy(page.policies()[0])
    spared = {action for action, _ in policy.pairs()} - used(page)
    assert spared == (passed() - used(page) if page is INSTALL else set())


def test_a_call_that_no_policy_allows_fails_its_test_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documented.hold(monkeypatch)
    where: dict[str, Any] = {"__name__": "evenkeel_cli.install.somewhere"}
    exec("def call(*what, **named): return aws.ask(*what, **named)", where)  # noqa: S102
    where["aws"] = Aws(iam.REGION, lambda _: None)
    said = "no policy of docs/install.md, 'What it takes in AWS' allows it"
    with pytest.raises(pytest.fail.Exception, match="ec2:StopInstances on .*" + said):
        where["call"]("ec2", "stop_instances", Nothing, InstanceIds=["i-1"])
    with pytest.raises(pytest.fail.Exception, match=r"cloudformation:DeleteStack on .*/other/"):
        where["call"]("cloudformation", "delete_stack", Nothing, StackName="other")


@pytest.mark.parametrize(
    ("right", "is_given"),
    [
        (Right("s3:GetObject", "arn:aws:s3:::evenkeel-x/a"), True),
        (Right("s3:getobject", "arn:aws:s3:::evenkeel-x/a"), True),
        (Right("s3:GetObject", "arn:aws:s3:::other/a"), False),
        (Right("s3:PutObject", "arn:aws:s3:::evenkeel-x/a"), False),
        (Right("ec2:DescribeInstances"), True),
        (Right("iam:PassRole", "arn:aws:iam::1:role/a", {"iam:PassedToService": "x"}), True),
        (Right("iam:PassRole", "arn:aws:iam::1:role/a", {"iam:PassedToService": "y"}), False),
        (Right("iam:PassRole", "arn:aws:iam::1:role/a"), False),
    ],
    ids=str,
)
def test_a_policy_gives_what_one_of_its_statements_does(right: Right, *, is_given: bool) -> None:
    condition = {"StringEquals": {"iam:PassedToService": ["x"]}}
    statements: list[dict[str, Any]] = [
        {"Action": ["s3:Get*"], "Resource": "arn:aws:s3:::evenkeel-*"},
        {"Action": "ec2:Describe*", "Resource": "*"},
        {"Action": "iam:PassRole", "Resource": "*", "Condition": condition},
    ]
    allowing = [{"Effect": "Allow", **each} for each in statements]
    policy = Policy({"Version": "2012-10-17", "Statement": allowing})
    assert policy.allows(right) is is_given


@pytest.mark.parametrize(
    ("called", "parameters", "rights"),
    [
        (("sts", "GetCallerIdentity"), {}, []),
        (("s3", "HeadBucket"), {"Bucket": "b"}, ["s3:ListBucket on arn:aws:s3:::b"]),
        (("s3", "HeadObject"), {"Bucket": "b", "Key": "k"}, ["s3:GetObject on arn:aws:s3:::b/k"]),
        (
            ("s3", "DeleteObjects"),
            {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}, {"Key": "l"}]}},
            ["s3:DeleteObject on arn:aws:s3:::b/k", "s3:DeleteObject on arn:aws:s3:::b/l"],
        ),
        (
            ("sqs", "DeleteMessageBatch"),
            {"QueueUrl": "https://sqs.eu-central-1.amazonaws.com/1/q"},
            ["sqs:DeleteMessage on arn:aws:sqs:eu-central-1:1:q"],
        ),
        (("lambda", "GetAccountSettings"), {}, ["lambda:GetAccountSettings on *"]),
        (
            ("autoscaling", "DescribeLifecycleHooks"),
            {"AutoScalingGroupName": "g"},
            ["autoscaling:DescribeLifecycleHooks on *"],
        ),
        (
            ("eks", "DescribeAccessEntry"),
            {"clusterName": "c", "principalArn": "arn:aws:iam::1:role/path/r"},
            [f"eks:DescribeAccessEntry on {IN_ACCOUNT.format('eks')}access-entry/c/role/1/r/*"],
        ),
        (
            ("cloudformation", "CreateChangeSet"),
            {
                "StackName": "s",
                "TemplateURL": "https://x",
                "RoleARN": "arn:aws:iam::1:role/r",
            },
            [
                f"cloudformation:CreateChangeSet on {IN_ACCOUNT.format('cloudformation')}stack/s/*",
                f"cloudformation:CreateChangeSet on {iam.TRANSFORM}",
                "iam:PassRole on arn:aws:iam::1:role/r",
            ],
        ),
    ],
    ids=str,
)
def test_a_call_takes_these_rights(
    called: tuple[str, str], parameters: dict[str, Any], rights: list[str]
) -> None:
    assert [str(each) for each in iam.needed(*called, parameters)] == rights
