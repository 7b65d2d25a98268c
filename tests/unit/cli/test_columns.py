"""One line for each thing: whole where there is room, and cut where a terminal ends."""

from dataclasses import dataclass

import pytest

from evenkeel_cli import columns
from evenkeel_cli.columns import Column


@dataclass(frozen=True)
class Thing:
    name: str
    ok: bool
    pods: int | None
    why: str = ""


COLUMNS = (
    Column[Thing]("NAME", lambda thing: thing.name),
    Column[Thing]("OK", lambda thing: thing.ok),
    Column[Thing]("PODS", lambda thing: thing.pods, yields=2),
    Column[Thing]("LEFT", lambda _: 7, yields=1),
    Column[Thing]("WHY", lambda thing: thing.why),
)
WHY = Column[str]("WHY", str, wraps=True)
THINGS = (
    Thing("web", ok=True, pods=12, why="its replacement ran before it went"),
    Thing("checkout", ok=False, pods=None),
)


def printed(room: int | None, things: tuple[Thing, ...] = THINGS) -> list[str]:
    return [line.plain for line in columns.lines(COLUMNS, things, room)]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        pytest.param(
            None,
            """
NAME      OK   PODS  LEFT  WHY
web       yes  12    7     its replacement ran before it went
checkout  no   -     7     -
""",
            id="without an edge all of it",
        ),
        pytest.param(
            48,
            """
NAME      OK   PODS  LEFT  WHY
web       yes  12    7     its replacement ran …
checkout  no   -     7     -
""",
            id="the last column is cut",
        ),
        pytest.param(
            42,
            """
NAME      OK   PODS  WHY
web       yes  12    its replacement ran …
checkout  no   -     -
""",
            id="what says least goes before too little of the last column is left",
        ),
        pytest.param(
            16,
            """
NAME      OK   …
web       yes  …
checkout  no   -
""",
            id="what says most is cut at the end",
        ),
    ],
)
def test_a_row_is_one_line_however_narrow_the_terminal_is(room: int | None, expected: str) -> None:
    assert printed(room) == expected.strip().splitlines()


def test_a_text_of_several_lines_is_one_line_in_a_table() -> None:
    assert printed(None, (Thing("a", ok=True, pods=1, why="one\n  two\tthree"),))[1].endswith(
        "one two three"
    )


def test_no_text_of_a_cell_steers_the_terminal_or_moves_a_column() -> None:
    (_, row) = printed(None, (Thing("a\x1b]0;owned\x07", ok=True, pods=1, why="b"),))
    assert row == "a\\x1b]0;owned\\x07  yes  1     7     b"


def test_columns_stand_below_each_other_where_letters_are_two_cells_wide() -> None:
    things = (Thing("日本", ok=True, pods=1), Thing("web", ok=True, pods=1))
    assert printed(None, things)[1:] == ["日本  yes  1     7     -", "web   yes  1     7     -"]


def test_only_the_titles_are_there_when_there_is_nothing() -> None:
    assert printed(None, ()) == ["NAME  OK  PODS  LEFT  WHY"]


def test_sentences_in_the_last_column_go_on_below() -> None:
    shown = [Column[str]("N", len), WHY]
    why = "no node has room for it, and none comes"
    assert [line.plain for line in columns.lines(shown, [why, "x"], 24)] == [
        "N   WHY",
        "39  no node has room for",
        "    it, and none comes",
        "1   x",
    ]
    assert [line.plain for line in columns.lines(shown, [why], None)][1] == f"39  {why}"


def test_sentences_for_which_little_room_is_left_stand_below_their_row() -> None:
    shown = [Column[str]("N", len), Column[str]("NAME", lambda _: "shop/web"), WHY]
    why = "no node has room for it"
    assert [line.plain for line in columns.lines(shown, [why, "none"], 22)] == [
        "N   NAME      WHY",
        "23  shop/web",
        "  no node has room for",
        "  it",
        "4   shop/web  none",
    ]
