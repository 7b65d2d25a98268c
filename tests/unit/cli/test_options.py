"""What all commands have in common."""

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evenkeel_cli.command import Command
from evenkeel_cli.groups import COMMANDS
from evenkeel_cli.main import main

NEEDED = {
    "cancel": ["n1"],
    "drain": ["n1"],
    "install": ["--cluster-name", "prod"],
    "uninstall": ["--cluster-name", "prod"],
    "upgrade": ["--cluster-name", "prod"],
    "rotate-token": ["--cluster-name", "prod"],
}
"""Arguments without which a command does not begin."""


TYPES = ("TEXT", "PATH", "INTEGER", "FLOAT", "INTEGER RANGE", "FLOAT RANGE")


def command(name: str) -> Command:
    found = main.get_command(click.Context(main), name)
    assert isinstance(found, Command)
    return found


def has(name: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in command(name).params)


ACTING = [name for name in COMMANDS if has(name, "--apply")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_value_is_called_by_what_it_is(name: str) -> None:
    """NAME, FILE, DURATION, and not by the type that click reads it as."""
    context = click.Context(command(name))
    for parameter in command(name).get_params(context):
        assert parameter.make_metavar(context) not in TYPES, parameter.opts


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    found = command(name).get_params(click.Context(command(name)))
    options = [each for each in found if isinstance(each, click.Option)]
    assert options
    assert [each.opts for each in options if not each.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_are_command_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [re.findall(r"\bevenkeel ([^|>)]+)", line) for line in command(name).examples]
    assert lines
    for (line,) in lines:
        called, *arguments = shlex.split(line)
        for each in arguments:
            if each.endswith((".crt", ".key")):
                Path(each).touch()
        assert called == name
        command(name).make_context(name, arguments)


def test_an_example_stands_in_the_help_as_it_is_typed() -> None:
    told = CliRunner().invoke(main, ["drain", "--help"]).output

    assert told.endswith(
        "\nExamples:\n"
        "  evenkeel drain ip-10-0-1-2\n"
        "  evenkeel drain ip-10-0-1-2 ip-10-0-1-3 --timeout 30m --apply\n"
    )


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
