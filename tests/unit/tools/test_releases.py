"""Version, changelog and tags go together, and what a release runs can be run here."""

import re
import subprocess
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import pairwise
from typing import Any

import pytest
import yaml

import evenkeel
from tests.kit.control_plane import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
VERSION = evenkeel.__version__


@pytest.fixture(scope="module")
def notes() -> Callable[[str, str], str]:
    """What tools/release-notes makes of a tag and a changelog."""
    loader = SourceFileLoader("release_notes", str(ROOT / "tools" / "release-notes"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    found: Callable[[str, str], str] = module.notes
    return found


def headings() -> list[tuple[str, str]]:
    """The versions of the changelog, each with the day of its release or without."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    return re.findall(r"^## (\d+\.\d+\.\d+)(?:, (\d{4}-\d\d-\d\d))?$", changelog, re.MULTILINE)


def steps(workflow: str) -> Iterator[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    for job in yaml.safe_load(workflow)["jobs"].values():
        yield from job.get("steps", ())


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    versions = [tuple(map(int, version.split("."))) for version, _ in headings()]
    assert versions[0] == tuple(map(int, VERSION.split(".")))
    assert all(newer > older for newer, older in pairwise(versions))


def test_a_version_that_is_tagged_has_its_day_in_the_changelog() -> None:
    tags = subprocess.run(
        ["git", "tag"],  # noqa: S607 - wherever it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    released = {version for version, day in headings() if day}
    assert {tag for tag in tags.stdout.split() if tag[0].isdigit()} <= released


def test_a_release_is_told_by_its_section(notes: Callable[[str, str], str]) -> None:
    changelog = (
        f"# Changelog\n\n## {VERSION}, 2026-12-24\n\n- New.\n\n## 0.0.1, 2026-01-01\n\n- Old.\n"
    )
    assert notes(VERSION, changelog) == "- New.\n"


@pytest.mark.parametrize(
    ("tag", "changelog", "told"),
    [
        pytest.param("9.9.9", "", f"the tag is 9.9.9, and .* is {VERSION}", id="another tag"),
        pytest.param(VERSION, f"## {VERSION}\n\n- New.\n", "add the day", id="no day"),
        pytest.param(VERSION, "## 0.0.1, 2026-01-01\n\n- Old.\n", "no heading", id="no section"),
    ],
)
def test_a_tag_that_is_no_release_is_refused(
    tag: str, changelog: str, told: str, notes: Callable[[str, str], str]
) -> None:
    with pytest.raises(ValueError, match=told):
        notes(tag, changelog)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda each: each.stem)
def test_a_job_runs_what_a_developer_can_run_and_pins_what_others_wrote(workflow: Any) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for step in steps(workflow.read_text()):
        words = step.get("run", "").split()
        assert not words or words[0] == "gh" or (words[0] == "make" and words[1] in targets), words
        uses = step.get("uses", "")
        assert not uses or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", uses), uses


def test_each_version_of_kubernetes_that_was_measured_is_tested_once_a_week() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text()
    measured = set(re.findall(r"^\| (1\.\d+)[\d.]* \| measured", page, re.MULTILINE))
    (pinned,) = re.findall(
        r"^\s*k8s\.io/kubernetes v(1\.\d+)", (ROOT / "tools" / "go.mod").read_text(), re.MULTILINE
    )
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    weekly = jobs["kubernetes"]["strategy"]["matrix"]["version"]
    assert sorted([*weekly, pinned]) == sorted(measured)
