"""No word of a cell is broken over lines, but after ``/`` and ``-`` where nothing else helps."""

import re
from itertools import combinations

import pytest
from click.testing import CliRunner
from rich.console import Console

from evenkeel_cli.lines import Line
from evenkeel_cli.main import main
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.wrapping import wrap
from tests.builders import seconds

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def parts(text: str) -> set[str]:
    """What may stand in one line: runs of the pieces of each word."""
    found = set()
    for word in text.split():
        pieces = [piece for piece in re.split(r"(?<=[/-])", word) if piece]
        found |= {"".join(pieces[i:j]) for i, j in combinations(range(len(pieces) + 1), 2)}
    return found


def pieces(text: str) -> set[str]:
    return {piece for piece in re.split(r"(?<=[/-])|\s+", text) if piece}


def printed(*arguments: str, width: int, terminal: bool = True) -> str:
    on = {"FORCE_COLOR": "1", "TERM": "xterm"} if terminal else {}
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": str(width), **on})
    assert result.exit_code == 0, result.output
    return COLOUR.sub("", result.stdout)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("as wanted", 9, ["as wanted"]),
        ("as wanted", 6, ["as", "wanted"]),
        ("as wanted", 2, ["as", "wanted"]),
        ("shop/deploy/web is left", 15, ["shop/deploy/web", "is left"]),
        ("shop/deploy/web is left", 12, ["shop/deploy/", "web is left"]),
        ("left: shop/deploy/web", 11, ["left: shop/", "deploy/web"]),
        ("a node-agent, too", 8, ["a node-", "agent,", "too"]),
        ("one\ntwo  three", 20, ["one", "two three"]),
        ("日本 語", 4, ["日本", "語"]),
        ("", 5, [""]),
    ],
)
def test_a_line_ends_at_a_space_or_where_a_long_word_has_a_joint(
    text: str, width: int, expected: list[str]
) -> None:
    assert wrap(text, width) == expected


def test_the_words_of_a_line_are_whole_on_a_terminal() -> None:
    line = Line(
        seconds(1), "evict", "pod payments-production/checkout-reconciliation-worker-1 left"
    )
    console = Console(width=60, force_terminal=True, color_system=None)
    with console.capture() as capture:
        line.show(console)
    found = capture.get().split()
    assert set(found) <= parts(f"+1.0s evict {line.text}")


TABLE = Table(
    (
        Column(key="name", title="NAME"),
        Column(key="pods", title="ON-DEMAND", right=True),
        Column(key="why", title="WHY", wraps=True),
    ),
    [
        (Cell("shop/web"), Cell("12", "green", 12), Cell("its replacement ran first")),
        (Cell("payments/checkout"), Cell("3", value=3), Cell("short")),
    ],
)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            50,
            """
NAME               ON-DEMAND  WHY
shop/web                  12  its replacement ran
                              first
payments/checkout          3  short
""",
        ),
        (
            38,
            """
NAME                  ON-  WHY
                   DEMAND
shop/web               12  its
                           replacement
                           ran first
payments/checkout       3  short
""",
        ),
        (
            30,
            """
NAME          ON-  WHY
           DEMAND
shop/web       12  its
                   replacement
                   ran first
payments/       3  short
checkout
""",
        ),
        (
            24,
            """
NAME       shop/web
ON-DEMAND  12
WHY        its
           replacement
           ran first

NAME       payments/
           checkout
ON-DEMAND  3
WHY        short
""",
        ),
    ],
)
def test_columns_give_way_one_kind_after_the_other_when_a_terminal_is_narrower(
    width: int, expected: str
) -> None:
    console = Console(width=width, force_terminal=True, color_system=None)
    with console.capture() as capture:
        TABLE.show(console)
    assert [line.rstrip() for line in capture.get().splitlines()] == expected.strip().splitlines()


def test_nothing_is_lost_when_a_piece_is_longer_than_a_line() -> None:
    console = Console(width=20, force_terminal=True, color_system=None)
    with console.capture() as capture:
        Table((Column(key="name", title="NAME"),), [(Cell("a" * 30),)]).show(console)
    assert capture.get().count("a") == 30


def test_the_title_is_all_when_there_is_no_row() -> None:
    console = Console(width=20, force_terminal=True, color_system=None)
    with console.capture() as capture:
        Table((Column(key="name", title="NAME"),), []).show(console)
    assert capture.get().split() == ["NAME"]
