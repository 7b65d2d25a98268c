"""The reference lists what the code has."""

import re
import subprocess
import sys
from itertools import zip_longest

from evenkeel.model import names
from evenkeel.model.reasons import Reason
from tests.kit.control_plane import ROOT
from tests.stack.sources import variables

REFERENCE = ROOT / "docs" / "reference"


def first_cells(page: str) -> set[str]:
    """What is in the first column of a page's tables."""
    return set(re.findall(r"^\| `([^`]+)` \|", (REFERENCE / page).read_text(), re.MULTILINE))


def test_the_pages_are_what_the_code_would_write_now() -> None:
    command = [sys.executable, str(ROOT / "tools" / "write-reference"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_each_variable_that_the_functions_read_is_listed() -> None:
    assert first_cells("settings.md") == variables()


def test_each_label_and_annotation_of_evenkeel_is_listed() -> None:
    listed = first_cells("annotations.md")
    assert {key for key in names.KNOWN if key.startswith("evenkeel.dev/")} <= listed
    assert listed <= names.KNOWN


def test_each_reason_that_is_listed_is_given_and_explained_by_a_sentence() -> None:
    """Where a colon follows, something is looked up by it, and it is not given."""
    folders = ROOT / "layers", ROOT / "src"
    given = {
        name
        for folder in folders
        for path in folder.rglob("*.py")
        for name in re.findall(r"\bReason\.([A-Z0-9_]+)\b(?!:)", path.read_text())
    }
    assert not {reason.name for reason in Reason} - given, "no code gives it"
    page = (REFERENCE / "reasons.md").read_text()
    explained = re.findall(r"^\| `(\w+)` \| .+\. \|$", page, re.MULTILINE)
    differ = next((pair for pair in zip_longest(Reason, explained) if len({*pair}) == 2), None)
    assert differ is None, f"model/reasons.py and docs/reference/reasons.md differ at {differ}"
