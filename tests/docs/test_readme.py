"""README.md is read in two minutes, its ways of use work, and pages show what the demo prints."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.ways import blocks

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
LINES = 200
WORDS = 1_400
FIRST_SCREEN = 50
"""Lines of README within which its three ways of use stand, blank ones included."""


def test_the_pages_show_what_every_run_of_the_demo_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    command = [sys.executable, str(ROOT / "tools" / "record-demo"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_is_short_enough_to_be_read_before_anything_is_tried() -> None:
    text = README.read_text()
    assert len(text.splitlines()) <= LINES
    assert len(text.split()) <= WORDS


def test_the_three_ways_of_use_stand_in_front() -> None:
    first = "\n".join(README.read_text().splitlines()[:FIRST_SCREEN])
    assert re.findall(r"<!-- way: (\w+) -->", first) == ["deploy", "replay", "restore"]
    assert all(f"<!-- way: {way} -->\n```console\n{blocks()[way]}```" in first for way in blocks())


@pytest.mark.parametrize("way", ["replay", "restore"])
def test_a_newcomer_who_pastes_a_way_of_use_sees_it_work(way: str, tmp_path: Path) -> None:
    """In a bare environment, less what needs Docker or an account."""
    lines = [each for each in blocks()[way].splitlines() if each.startswith("evenkeel ")]
    assert lines
    for line in lines:
        command = shlex.split(line, comments=True)
        done = subprocess.run(
            [Path(sys.executable).with_name(command[0]), *command[1:]],
            env=bare(tmp_path),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), line
        assert SEEN[way] in done.stdout


SEEN = {"replay": "is interrupted: terminate in 120 s", "restore": "pods moved in"}


def test_sam_finds_the_files_that_its_settings_and_the_blocks_name() -> None:
    settings = (ROOT / "samconfig.toml").read_text()
    (named,) = re.findall(r'^env_vars = "(.+)"$', settings, re.MULTILINE)
    given = json.loads((ROOT / named).read_text())["Parameters"]
    template = (ROOT / "template.yaml").read_text()
    assert all(f"          {name}:" in template or f"        {name}:" in template for name in given)
    (line,) = (each for each in blocks()["replay"].splitlines() if each.startswith("sam "))
    _, _, _, function, _, event, *_ = shlex.split(line)
    assert f"\n  {function}:\n    Type: AWS::Serverless::Function" in template
    assert "Records" in json.loads((ROOT / event).read_text())


def bare(home: Path) -> Mapping[str, str]:
    return {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8"}
