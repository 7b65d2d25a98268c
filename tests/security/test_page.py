"""docs/security.md names every attempt, and no test that is not there."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "security.md").read_text()


def tests_in(folder: Path) -> set[str]:
    """The names of all tests in a folder and below."""
    files = (path for path in folder.rglob("test_*.py") if path != Path(__file__))
    return {name for path in files for name in re.findall(r"def (test_\w+)", path.read_text())}


def test_the_page_names_every_attack_and_no_test_that_is_not_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert tests_in(HERE) <= named <= tests_in(HERE.parent)


def test_the_page_names_the_files_that_are_there() -> None:
    files = set(re.findall(r"`(tests/security/test_\w+\.py)`", PAGE))
    there = {f"tests/security/{path.name}" for path in HERE.glob("test_*.py")}
    assert files == there - {"tests/security/test_page.py"}
