"""README.md shows what the demo prints now, and is read in two minutes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = 200


def test_the_readme_shows_what_every_run_of_the_demo_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    command = [sys.executable, str(ROOT / "tools" / "record-demo"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_is_short_enough_to_be_read_before_anything_is_tried() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= LINES
