"""What terminals of several sizes show of a storm: kept in ``kept/``, and never too large."""

from pathlib import Path

import msgspec
import pytest

from evenkeel_cli.screen.views import Fact, Said, Screen
from evenkeel_cli.watch import terminal
from tests.unit.cli.watch.rehearsed import KEPT, SIZES, shown, story

DOCS = Path(__file__).parents[4] / "docs"
WIDTHS = (20, 40, 80, 133, 200)
HEIGHTS = (6, 12, 24, 33, 50)


def lines(screen: Screen, width: int, height: int) -> list[str]:
    return [line.plain for line in terminal.lines(screen, width, height)]


@pytest.mark.parametrize("size", SIZES)
def test_a_terminal_shows_what_was_looked_at_and_kept(size: str) -> None:
    kept = (KEPT / f"{size}.txt").read_text()
    assert shown(size).splitlines() == kept.splitlines()


def test_the_documentation_shows_the_same() -> None:
    assert f"```text\n{(KEPT / '80x24.txt').read_text()}```" in (DOCS / "watch.md").read_text()


@pytest.mark.parametrize("height", HEIGHTS)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_screen_is_larger_than_its_terminal(width: int, height: int) -> None:
    for screen in story():
        painted = terminal.lines(screen, width, height)
        assert len(painted) <= height
        assert max(line.cell_len for line in painted) <= width


def test_a_small_terminal_has_a_part_of_everything() -> None:
    _, midst, _ = story()
    said = "\n".join(lines(midst, 80, 24))
    for part in ("nodes going", "mode: act", "POOL ", "WORKLOAD ", "missing ", "is told to go"):
        assert part in said


def test_in_a_calm_cluster_the_pools_and_their_nodes_stand_alone() -> None:
    first, _, _ = story()
    said = lines(first, 80, 40)
    assert "POOL                          NODES" in said
    assert not any(line.startswith("WORKLOAD") for line in said)


def test_what_is_bad_is_said_first() -> None:
    first, _, _ = story()
    facts = [*first.facts, Fact(name="paused", text="by ada", bad=True)]
    assert "paused: by ada · mode: act" in "\n".join(
        lines(msgspec.structs.replace(first, facts=facts), 80, 24)
    )


def test_a_name_cannot_steer_the_terminal() -> None:
    said = [Said(at=1.0, verb="evict", text="pod \x1b[2J", warning=False)]
    screen = Screen(
        at=story()[0].at, source="\x1b[31m", headline="\x1b[0m", calm=True, decisions=said
    )
    assert "\x1b" not in "".join(lines(screen, 80, 24))
