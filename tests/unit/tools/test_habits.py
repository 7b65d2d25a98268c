"""What contributors are told to run is there, and what runs before a commit needs no network."""

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from evenkeel_cli.main import main
from tests.kit.control_plane import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TOLD = ("CONTRIBUTING.md", "README.md", "tests/README.md", ".pre-commit-config.yaml")


@pytest.mark.parametrize("file", TOLD)
def test_every_make_that_is_told_has_a_target(file: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = set(re.findall(r"(?:^|`|: )make ([a-z-]+)", (ROOT / file).read_text(), re.MULTILINE))
    assert told
    assert told <= targets


def test_what_runs_before_a_commit_is_what_is_here() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}


@pytest.mark.parametrize("form", FORMS, ids=lambda each: each.stem)
def test_a_form_asks_for_commands_that_there_are(form: Path) -> None:
    fields = [field for field in yaml.safe_load(form.read_text())["body"] if "id" in field]
    labels = [field["attributes"]["label"] for field in fields]
    assert len(set(labels)) == len(labels)
    asked = [label.split()[1:] for label in labels if label.startswith("evenkeel ")]
    assert asked
    for words in asked:
        assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0, words
