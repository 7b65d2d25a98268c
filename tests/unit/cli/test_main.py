import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import evenkeel
from evenkeel.errors import ForbiddenError, SettingsError
from evenkeel_cli import main as entry
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.groups import COMMANDS, GROUPS

EVENKEEL = Path(sys.executable).parent / "evenkeel"


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EVENKEEL, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment},
    )


def test_help_is_shown_when_nothing_is_asked_for() -> None:
    done = run()

    assert done.returncode == 0
    assert "Usage: evenkeel" in done.stdout
    for heading, commands in GROUPS.items():
        section = done.stdout.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(commands)
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_within_80_columns(name: str) -> None:
    done = CliRunner().invoke(entry.main, [name, "--help"], terminal_width=80)

    assert done.exit_code == 0
    assert done.output.startswith(f"Usage: evenkeel {name}")
    assert max(map(len, done.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["qqqq"], "error: No such command 'qqqq': see evenkeel --help"),
        (["stats"], "error: No such command 'stats'. Did you mean 'status'? See evenkeel --help"),
        (
            ["status", "--bulit-in"],
            "error: No such option '--bulit-in'. Did you mean '--built-in'? See evenkeel status",
        ),
        (["demo", "--nope"], "error: No such option '--nope' (Did you mean"),
        (["replay"], "error: no event is named: give a FILE, or --sample NAME (see --help)"),
        (["version", "-o", "xml"], "error: Invalid value for '-o' / '--output': 'xml' is not"),
        (["demo", "--speed", "0"], "error: Invalid value for '--speed': 0.0 is not in the range"),
        (["cancel", "n1"], "error: kubeconfig ~/.kube/config: there is no such file"),
        (["resume", "--kubeconfig", "nowhere"], "error: kubeconfig nowhere: there is no such"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: list[str], error: str) -> None:
    done = run(*arguments)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(error)
    assert done.stderr.count("\n") == 1


def commands_fail(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Have every command raise it."""

    @click.command()
    def failing() -> None:
        raise error

    monkeypatch.setattr(entry.Commands, "get_command", lambda *_: failing)


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (BadInputError("x.json: is bad:\nmend it"), 2, "error: x.json: is bad: mend it\n"),
        (UnmetError("it did not work"), 3, "error: it did not work\n"),
        (UnmetError("no \x1b[2J"), 3, "error: no \\x1b[2J\n"),
        (SettingsError("NAME is not set"), 2, "error: NAME is not set\n"),
        (ForbiddenError("pods is forbidden"), 3, "error: pods is forbidden: see whether"),
        (
            ForbiddenError('nodes is forbidden: User "me" cannot list resource "nodes"'),
            3,
            (
                'error: nodes is forbidden: User "me" cannot list resource "nodes": kubectl apply'
                " -k manifests/viewer gives that to the group evenkeel-viewers\n"
            ),
        ),
        (
            ForbiddenError('nodes "a" is forbidden: User "me" cannot patch resource "nodes"'),
            3,
            (
                'error: nodes "a" is forbidden: User "me" cannot patch resource "nodes": kubectl'
                " apply -k manifests/rbac gives that to the group evenkeel-handover\n"
            ),
        ),
        (click.Abort(), 130, ""),
        (click.ClickException("odd"), 2, "error: odd\n"),
        (ZeroDivisionError("by zero"), 3, "error: this should not happen (ZeroDivisionError: by"),
    ],
)
def test_an_error_is_one_line_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, code: int, message: str
) -> None:
    commands_fail(monkeypatch, raised)

    done = CliRunner().invoke(entry.main, ["failing"])

    assert done.exit_code == code
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") <= 1


def test_a_traceback_is_shown_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    commands_fail(monkeypatch, ZeroDivisionError())

    done = CliRunner().invoke(entry.main, ["--traceback", "failing"])

    assert isinstance(done.exception, ZeroDivisionError)


def test_the_version_is_told_to_people_and_programs() -> None:
    told = CliRunner().invoke(entry.main, ["version"])
    short = CliRunner().invoke(entry.main, ["--version"])
    data = CliRunner().invoke(entry.main, ["version", "-o", "json"])

    assert told.output.splitlines()[1].split() == ["evenkeel", evenkeel.__version__]
    assert short.output == f"evenkeel {evenkeel.__version__}\n"
    assert json.loads(data.output)["items"][0]["version"] == evenkeel.__version__


@pytest.mark.parametrize("command", [["version"], ["demo", "--speed", "1000"]], ids=" ".join)
def test_nothing_is_complained_of_when_the_reader_goes_away(command: list[str]) -> None:
    """Nor is it said that all went well, or that it did not."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [EVENKEEL, *command], stdout=nobody, stderr=subprocess.PIPE, timeout=180, check=False
        )

    assert (done.returncode, done.stderr) == (141, b"")


def test_it_can_be_started_as_a_module() -> None:
    """As the Makefile does: a checkout's path may be too odd for a script's first line."""
    done = subprocess.run(
        [sys.executable, "-m", "evenkeel_cli.main", "version"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("evenkeel ")
