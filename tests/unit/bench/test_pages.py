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


def test_all_that_is_kept_is_of_the_same_product_code() -> None:
    products = {each.conditions.product for case in CASES for each in Book().of(case)}
    assert len(products) <= 1
    assert BOOK.exists()


@pytest.mark.parametrize("name", [name for name in CASES if name not in ELSEWHERE])
def test_a_case_has_a_section(name: str) -> None:
    title = load(name).__doc__.partition(".\n")[0]
    assert f"## {title}\n" in blocks(Book())["measurements"]
