"""What was measured, as the pages show it."""

import re

import pytest

from bench.book import BOOK, ROOT, Book
from bench.cases import CASES, load
from bench.pages import ELSEWHERE, PAGES, blocks, paste
from bench.readme import PICTURE, picture_of


def test_a_table_goes_between_its_markers_and_nowhere_else() -> None:
    page = "a\n<!-- cost -->\nold\n<!-- /cost -->\nb\n"
    found = {"cost": "new\n", "options": "unwanted\n"}
    pasted = paste(page, found)
    assert pasted == "a\n<!-- cost -->\nnew\n<!-- /cost -->\nb\n"
    assert paste(pasted, found) == pasted


def test_a_marker_without_its_end_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no <!-- /cost -->"):
        paste("<!-- cost -->\nold\n", {"cost": "new\n"})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_the_results_that_are_kept(name: str) -> None:
    text = (ROOT / name).read_text()
    assert paste(text, blocks(Book())) == text, f"{name} is behind: python -m bench tables"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_table_that_no_results_make(name: str) -> None:
    text = (ROOT / name).read_text()
    shown = re.findall(r"<!-- ([\w-]+) -->\n(.+?)<!-- /\1 -->", text, re.DOTALL)
    assert {each for each, _ in shown} - {"demo"} <= blocks(Book()).keys()


def test_every_block_is_on_one_page() -> None:
    pages = "".join((ROOT / name).read_text() for name in PAGES)
    assert [pages.count(f"<!-- {name} -->") for name in blocks(Book())] == [1] * len(blocks(Book()))


def test_the_picture_is_that_of_the_results_that_are_kept() -> None:
    kept = picture_of(Book())
    assert kept is None or (ROOT / PICTURE).read_text() == kept, "python -m bench tables"


def test_each_result_that_is_kept_is_the_only_one_of_its_case_and_size() -> None:
    kept = [(each.case, each.size) for each in Book()]
    assert BOOK.exists()
    assert len(set(kept)) == len(kept)
    assert set(kept) <= {(name, size) for name in CASES for size in load(name).SIZES}


@pytest.mark.parametrize("name", CASES)
def test_the_commit_and_the_day_of_each_result_are_shown(name: str) -> None:
    found = blocks(Book())
    shown = found[name] if name in ELSEWHERE else section(found["measurements"], name)
    for each in Book().of(name):
        commit, day = each.conditions.commit, each.conditions.date
        assert f"ommit {commit}, {day}, " in shown, each.size


def section(measurements: str, case: str) -> str:
    title = load(case).__doc__.partition(".\n")[0]
    return measurements.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", [name for name in CASES if name not in ELSEWHERE])
def test_a_case_has_a_section(name: str) -> None:
    assert f"`python -m bench {name}`" in section(blocks(Book())["measurements"], name)
