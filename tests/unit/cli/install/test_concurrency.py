"""What a new stack reserves for its functions, where the account has enough and where not."""

import pytest

from cli.install import concurrency, plan
from cli.install.choices import Choices, Webhook
from cli.install.stacks import Deployed
from evenkeel.settings import Mode
from tests.template.cloudformation import load
from tests.unit.cli.install.keeping import Account, Kept, a_site, a_stack

PLACEMENT = {"PlacementConcurrency": ""}
NONE = {"InterruptionConcurrency": "", "HandoverConcurrency": "", **PLACEMENT}


def asked(account: Account, **parameters: str) -> dict[str, str]:
    """The concurrency that a deployment asks for."""
    choices = Choices(Mode.ACT, Webhook.LAMBDA, parameters=parameters)
    found = plan.parameters(a_site(Kept(), account), choices)
    return {name: value for name, value in found.items() if name.endswith("Concurrency")}


def looked(account: Account, parameters: dict[str, str]) -> str:
    """What the step that deploys says of these."""
    return "\n".join(Deployed(a_site(Kept(), account), parameters).look())


def test_what_the_template_reserves_is_reckoned_with() -> None:
    defaults = {
        name: each["Default"]
        for name, each in load()["Parameters"].items()
        if name.endswith("Concurrency") and each["Default"]
    }
    assert defaults == {name: str(number) for name, number in concurrency.RESERVED.items()}


@pytest.mark.parametrize("unreserved", [165, 1_000, None])
def test_an_account_with_enough_or_that_does_not_say_is_left_to_the_template(
    unreserved: int | None,
) -> None:
    assert asked(Account(unreserved=unreserved)) == {}


@pytest.mark.parametrize("unreserved", [115, 164])
def test_where_there_is_too_little_for_all_it_is_kept_for_notices(unreserved: int) -> None:
    account = Account(unreserved=unreserved)
    assert asked(account) == PLACEMENT
    assert "no concurrency" not in looked(account, asked(account))


@pytest.mark.parametrize("unreserved", [0, 10, 100, 104])
def test_in_an_account_with_too_little_nothing_is_reserved_and_that_is_said(
    unreserved: int,
) -> None:
    account = Account(unreserved=unreserved)
    assert asked(account) == NONE
    assert "no concurrency is reserved for notices" in looked(account, asked(account))


def test_what_a_person_says_counts() -> None:
    wanted = {"InterruptionConcurrency": "5", "HandoverConcurrency": "5"}
    account = Account(unreserved=100)
    assert asked(account, **wanted) == NONE | wanted
    assert "no concurrency" not in looked(account, asked(account, **wanted))


def test_a_stack_that_is_there_keeps_what_it_has() -> None:
    assert asked(Account(stack=a_stack(), unreserved=10)) == {}


def test_one_that_was_never_made_is_new() -> None:
    failed = a_stack() | {"StackStatus": "ROLLBACK_COMPLETE"}
    assert asked(Account(stack=failed, unreserved=10)) == NONE
