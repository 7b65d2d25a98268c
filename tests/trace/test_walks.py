"""The walks that docs/design.md shows are those that the code takes."""

from tests.trace.__main__ import BLOCK, DESIGN, shown, walks


def test_the_design_shows_the_walks_of_today() -> None:
    (said,) = BLOCK.findall(DESIGN.read_text())
    assert said == shown(walks()), "run .venv/bin/python -m tests.trace --write"


def test_a_walk_is_the_same_each_time() -> None:
    assert shown(walks()) == shown(walks())
