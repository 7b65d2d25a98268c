"""docs/security.md names every attempt, and no test that is not there."""

import re
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs" / "security.md").read_text()


def names_in(paths: Iterable[Path]) -> set[str]:
    """The names of the tests in these files, but for those about the page."""
    others = (path for path in paths if path != Path(__file__))
    return {name for path in others for name in re.findall(r"def (test_\w+)", path.read_text())}


def test_the_page_names_every_attack_and_no_test_that_is_not_there() -> None:
    """Some attempts are tried where the bytes are read, and some on a real API server."""
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert names_in(HERE.glob("test_*.py")) <= named
    assert named <= names_in(HERE.parents[1].rglob("test_*.py"))


def test_the_page_names_the_files_that_are_there() -> None:
    files = set(re.findall(r"`(tests/stories/attacks/test_\w+\.py)`", PAGE))
    there = {f"tests/stories/attacks/{path.name}" for path in HERE.glob("test_*.py")}
    assert files == there - {"tests/stories/attacks/test_page.py"}


def test_a_test_shows_each_thing_that_somebody_cannot_do() -> None:
    """A row that claims nothing of the kind needs none; one is about AWS, and says so."""
    part = PAGE.partition("## Others' rights")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    claims = [row for row in rows[1:] if len(row) > 2]
    assert len(claims) > 10
    without = [row[0] for row in claims if not re.search(r"`test_\w+`|\*\*\(AWS\)\*\*", row[-1])]
    assert without == []
