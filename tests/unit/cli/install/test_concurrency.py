"""For which functions a stack reserves concurrency: a new one, and one of before."""

import pytest

from evenkeel.settings import Mode
from evenkeel_cli.install import concurrency, plan
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.stacks import Deployed
from tests.kit.aws_clients import a_stack
from tests.stack.cloudformation import deployed, load
from tests.unit.cli.install.keeping import Account, Kept, a_site

A_BUILD = Build(load(), {})
DEFAULTS = {
    "InterruptionConcurrency": "10",
    "HandoverConcurrency": "5",
    "RestoreConcurrency": "",
    "PlacementConcurrency": "50",
}
"""What a stack of before had, with a parameter for each function."""


def asked(account: Account, **parameters: str) -> str | None:
    """For which functions a deployment asks for concurrency; None: it does not say."""
    choices = Choices(Mode.ACT, Webhook.LAMBDA, parameters=parameters)
    return plan.parameters(a_site(Kept(), account), choices).get(concurrency.PARAMETER)


def looked(account: Account, value: str) -> str:
    """What the step that deploys says of this value."""
    step = Deployed(a_site(Kept(), account), A_BUILD, {concurrency.PARAMETER: value})
    return "\n".join(step.look())


@pytest.mark.parametrize("value", ["all", "notices", "none"])
def test_what_the_template_reserves_is_reckoned_with(value: str) -> None:
    stack = deployed(Webhook="true", ReservedConcurrency=value)
    functions = map(stack.of, stack.names("AWS::Serverless::Function"))
    reserved = sum(each.get("ReservedConcurrentExecutions", 0) for each in functions)
    assert reserved == concurrency.RESERVED[value]


@pytest.mark.parametrize(
    ("unreserved", "value"),
    [
        (1_000, "all"),
        (172, "all"),
        (171, "notices"),
        (122, "notices"),
        (121, "none"),
        (10, "none"),
        (None, "none"),
    ],
    ids=str,
)
def test_a_new_stack_reserves_what_there_is_and_for_notices_first(
    unreserved: int | None, value: str
) -> None:
    """Where AWS does not say, a reservation that Lambda refuses would undo the whole stack."""
    assert asked(Account(unreserved=unreserved)) == value


def test_the_right_is_named_by_which_aws_would_say_how_much_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked(Account(unreserved=None))
    assert "allow lambda:GetAccountSettings" in capsys.readouterr().out
    asked(Account(unreserved=1_000))
    assert capsys.readouterr().out == ""


def test_how_more_is_reserved_later_is_said() -> None:
    assert "where Lambda has 172 unreserved" in looked(Account(), "none")
    assert "add --parameter ReservedConcurrency=all" in looked(Account(), "none")


def test_that_nothing_is_reserved_for_notices_is_said() -> None:
    assert "no concurrency is reserved for notices" in looked(Account(), "none")
    for value in ("notices", "all"):
        assert "no concurrency" not in looked(Account(), value)


def test_what_a_person_says_counts() -> None:
    assert asked(Account(unreserved=100), ReservedConcurrency="notices") == "notices"


@pytest.mark.parametrize("value", ["all", "notices", "none"])
def test_a_stack_that_is_there_keeps_what_it_has(value: str) -> None:
    stack = a_stack(ReservedConcurrency=value)
    assert asked(Account(stack=stack, unreserved=1_000)) is None


FEWER = {"InterruptionConcurrency": "5"}


@pytest.mark.parametrize(
    ("before", "unreserved", "value"),
    [
        ({}, 1_000, "all"),
        ({}, None, "notices"),
        ({"PlacementConcurrency": ""}, 1_000, "notices"),
        ({"InterruptionConcurrency": "", "PlacementConcurrency": ""}, 1_000, "notices"),
        ({"PlacementConcurrency": ""}, None, "none"),
        ({"HandoverConcurrency": "", "PlacementConcurrency": ""}, None, "none"),
        ({"InterruptionConcurrency": "", "HandoverConcurrency": ""}, 1_000, "none"),
        (dict.fromkeys(DEFAULTS, ""), None, "none"),
        ({}, 107, "all"),
        ({}, 106, "notices"),
        (FEWER, 112, "all"),
        (FEWER, 111, "notices"),
        (FEWER | {"PlacementConcurrency": ""}, 111, "none"),
    ],
)
def test_a_stack_of_before_reserves_for_the_same_functions_and_no_more_than_lambda_allows(
    before: dict[str, str], unreserved: int | None, value: str
) -> None:
    """What the stack has reserved before is free for it."""
    stack = a_stack(None, **DEFAULTS | before)
    assert asked(Account(stack=stack, unreserved=unreserved)) == value


@pytest.mark.parametrize("before", [{}, {"ReservedConcurrency": "5"}], ids=["none", "a number"])
def test_a_stack_from_before_all_these_parameters_reserves_nothing(before: dict[str, str]) -> None:
    assert asked(Account(stack=a_stack(None, **before), unreserved=1_000)) == "none"


def test_one_that_was_never_made_is_new() -> None:
    failed = a_stack(None, **DEFAULTS) | {"StackStatus": "ROLLBACK_COMPLETE"}
    assert asked(Account(stack=failed, unreserved=10)) == "none"
    assert asked(Account(stack=failed, unreserved=1_000)) == "all"
