"""``python -m bench``, on a case that takes no time."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import __main__ as runner
from bench import conditions, pages
from bench.book import Book, Measurement
from bench.figure import NONE, Figure

ROUNDS: list[tuple[str, Path]] = []


@pytest.fixture(autouse=True)
def book(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Book:
    """A case of two sizes whose rounds are counted, and a book of the test's."""
    found = Book(tmp_path / "results.jsonl")
    ROUNDS.clear()
    case = SimpleNamespace(SIZES=("small", "large"))

    def measure(_: str, size: str, tree: Path) -> Sequence[Figure]:
        ROUNDS.append((size, tree))
        return [Figure("below", len(ROUNDS) - 1, mark=NONE)]

    for name, value in {"load": lambda _: case, "_round": measure, "Book": lambda: found}.items():
        monkeypatch.setattr(runner, name, value)
    monkeypatch.setattr(pages, "write", lambda _: None)
    return found


def kept(book: Book) -> list[Measurement]:
    return list(book.of("gate"))


def test_all_sizes_are_measured_where_none_is_named(book: Book) -> None:
    assert runner.main(["gate"]) == 1, "the second round has a figure that is not as wanted"
    assert [each.size for each in kept(book)] == ["small", "large"]


def test_a_figure_that_is_not_as_wanted_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["gate", "small", "--rounds", "3"]) == 1
    assert capsys.readouterr().err == "not as wanted: below: 2, wanted at most 0\n"
    assert len(ROUNDS) == 3


def test_which_of_two_commits_goes_first_changes(
    book: Book, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conditions, "name_of", lambda commit: commit[:7])
    runner.main(["gate", "small", "--rounds", "2", "--against", "HEAD"])
    here, base = conditions.ROOT, ROUNDS[1][1]
    assert [tree for _, tree in ROUNDS] == [here, base, base, here]
    assert base != here
    assert list(book) == [], "a pair is printed alone"
    assert "| gate small | this | HEAD | ratio |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["storms"], "invalid choice: 'storms'"),
        (["gate", "huge"], "no size 'huge': name some of small, large"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_runs(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        runner.main(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
    assert ROUNDS == []


def test_a_round_imports_the_product_of_its_checkout(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", sys.executable)
    with pytest.raises(Exception, match="non-zero exit status"):
        runner._round("gate", "50 a second", tmp_path)
