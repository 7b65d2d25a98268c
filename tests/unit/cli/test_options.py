"""What all commands have in common."""

import click
import pytest
from click.testing import CliRunner

from evenkeel_cli.main import COMMANDS, main

NEEDED = {
    "cancel": ["n1"],
    "drain": ["n1"],
    "install": ["--cluster-name", "prod"],
    "uninstall": ["--cluster-name", "prod"],
    "upgrade": ["--cluster-name", "prod"],
    "rotate-token": ["--cluster-name", "prod"],
}
"""Arguments without which a command does not begin."""


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def has(name: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in command(name).params)


ACTING = [name for name in COMMANDS if has(name, "--apply")]


def test_a_command_that_writes_can_be_told_not_to() -> None:
    """Two act without a word, for they are started to go on."""
    assert [name for name in COMMANDS if has(name, "--dry-run")] == [
        name for name in COMMANDS if name in (*ACTING, "poll", "serve")
    ]


@pytest.mark.parametrize("name", ACTING)
def test_to_act_and_not_to_act_is_a_contradiction(name: str) -> None:
    done = CliRunner().invoke(main, [name, *NEEDED.get(name, []), "--apply", "--dry-run"])

    assert done.exit_code == 2
    assert done.output == ("error: --dry-run and --apply contradict each other: keep one of them\n")


def test_a_dry_run_is_what_is_done_anyway() -> None:
    explicit, silent = (
        CliRunner().invoke(main, ["restore", "--built-in", *more]) for more in (["--dry-run"], [])
    )

    assert explicit.exit_code == 0
    assert explicit.output == silent.output
