"""What the commands refuse before they ask AWS, and how they read the options of AWS."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from evenkeel_cli.install import terms
from evenkeel_cli.install.site import Place
from evenkeel_cli.main import main
from evenkeel_hosting import files


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--cluster-name", "prod"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("install", "--change-set", "--apply"), "--apply and --change-set contradict each other"),
        (("install", "--render", "x", "--apply"), "--apply and --render contradict each other"),
        (("install", "--change-set", "--dry-run"), "--dry-run and --change-set contradict each"),
        (("upgrade", "--change-set", "--apply"), "--apply and --change-set contradict each other"),
    ],
)
def test_two_ways_at_once_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize("command", ["install", "upgrade"])
@pytest.mark.parametrize("time", ["0s", "13h", "for ever"])
def test_a_wait_has_bounds(command: str, time: str) -> None:
    done = run(command, "--timeout", time)
    assert done.exit_code == 2
    assert "Invalid value for '--timeout'" in done.stderr


@pytest.mark.parametrize("command", ["install", "upgrade"])
def test_without_a_layer_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    """Rights would be changed before the stack is looked at."""
    monkeypatch.setattr(files, "LAYER", tmp_path / "layer.zip")
    done = run(command, "--apply")
    assert done.exit_code == 3
    assert "error: this installation has no layer for the functions: in a checkout" in done.stderr


def test_what_a_person_names_is_one_place() -> None:
    found: list[Any] = []

    @click.command()
    @terms.place
    @terms.delivery
    def command(*, where: Place) -> None:
        found.append(where)

    arguments = ["--cluster-name", "prod", "--region", "eu-west-1", "--profile", "ops"]
    arguments += ["--bucket", "mine", "--role-arn", "arn:aws:iam::1:role/evenkeel-deployer"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    (where,) = found
    assert where == Place(
        "prod",
        region="eu-west-1",
        profile="ops",
        bucket="mine",
        role_arn="arn:aws:iam::1:role/evenkeel-deployer",
    )
