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


READING = {
    "status",
    "nodes",
    "explain",
    "headroom",
    "restore",
    "drain",
    "cancel",
    "replay",
    "watch",
}
"""The commands that read a cluster, whichever it is."""

COPYING = {"simulate", "report"}
"""Those that let storms come over a copy of one."""

LOGS = {"history", "report", "demo", "replay", "poll", "watch"}
"""Those that read a decision log, or write one."""


def test_what_reads_a_cluster_names_it_alike() -> None:
    for option in ("--snapshot", "--built-in"):
        assert {name for name in COMMANDS if has(name, option)} == READING | COPYING
    assert {name for name in READING if has(name, "--context")} == READING
    assert {name for name in COMMANDS if has(name, "--decisions")} == LOGS


def test_whatever_has_a_namespace_has_all_of_them() -> None:
    """Nodes have none."""
    named = {name for name in COMMANDS if has(name, "--namespace")}
    assert named == {name for name in COMMANDS if has(name, "--all-namespaces")}
    assert named == {"status", "explain", "restore", "replay", "history"}


@pytest.mark.parametrize("name", sorted(READING | COPYING))
def test_two_clusters_are_one_too_many(name: str, tmp_path: Path) -> None:
    needed = {"explain": ["x"], "report": ["--from", "simulate", "--html", str(tmp_path / "x")]}
    needed |= {"replay": ["--sample", "interruption-warning-stop"]} | NEEDED
    done = CliRunner().invoke(
        main, [name, *needed.get(name, []), "--built-in", "--snapshot", "mine.json"]
    )
    assert done.exit_code == 2
    assert done.stderr == "error: more than one cluster is named: keep one of them\n"


@pytest.mark.parametrize("name", ["restore", "drain", "cancel"])
def test_only_a_real_cluster_can_be_changed(name: str) -> None:
    done = CliRunner().invoke(main, [name, *NEEDED.get(name, []), "--built-in", "--apply"])
    assert done.exit_code == 2
    assert done.stderr == "error: only a real cluster can be changed: leave --apply away\n"


@pytest.mark.parametrize("name", ["drain", "cancel"])
def test_a_node_that_is_not_there_is_bad_input(name: str) -> None:
    done = CliRunner().invoke(main, [name, "ip-10-0-64-76", "--built-in"])
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "error: the built-in cluster has no node ip-10-0-64-76: did you mean ip-10-0-64-79 or"
    )


def test_a_drain_is_planned_for_a_cluster_that_is_not_real() -> None:
    done = CliRunner().invoke(main, ["drain", "ip-10-0-64-67", "--built-in"])
    assert done.exit_code == 0
    assert "deploy/portal" in done.stdout
    assert "--apply" not in done.stdout


@pytest.mark.parametrize("name", ACTING)
def test_to_act_and_not_to_act_is_a_contradiction(name: str) -> None:
    done = CliRunner().invoke(main, [name, *NEEDED.get(name, []), "--apply", "--dry-run"])

    assert done.exit_code == 2
    assert done.output == ("error: --dry-run and --apply contradict each other: keep one of them\n")


def test_a_dry_run_is_what_is_done_anyway() -> None:
    explicit, silent = (
        CliRunner().invoke(main, ["restore", "--built-in", "-n", "ops", *more])
        for more in (["--dry-run"], [])
    )

    assert explicit.exit_code == 0
    assert explicit.output == silent.output
