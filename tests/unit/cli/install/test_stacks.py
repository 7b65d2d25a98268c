"""A stack in each of CloudFormation's states: waited for, changed, or made."""

from typing import Any

import pytest

from cli.errors import UnmetError
from cli.install import sam
from cli.install.stacks import Deployed
from tests.unit.cli.install.keeping import STACK, Account, Kept, a_site, a_stack


def deployed(**told: Any) -> Deployed:
    return Deployed(a_site(Kept(), Account(a_stack() | told)), {"Mode": "act"})


def test_a_stack_that_waits_for_its_review_is_made_like_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A change set made it, and nobody carried that out: CloudFormation waits for ever."""
    ran: list[str] = []
    monkeypatch.setattr(sam, "build", lambda: ran.append("build"))
    monkeypatch.setattr(sam, "deploy", lambda *_: ran.append("deploy"))
    step = deployed(StackStatus="REVIEW_IN_PROGRESS", Parameters=[])

    assert step.look() == [f"make {STACK}", "  Mode=act"]
    step.do()

    assert ran == ["build", "deploy"]  # sam executes a change set of its own


@pytest.mark.parametrize("status", ["CREATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS"])
def test_a_stack_that_is_being_changed_is_waited_for(status: str) -> None:
    with pytest.raises(UnmetError, match=f"{STACK} is {status}: wait until that has ended"):
        deployed(StackStatus=status).look()
