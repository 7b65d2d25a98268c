"""What was measured, as README shows it."""

import re
from pathlib import Path

import msgspec
import pytest

from bench.faults.results import Faults, Suffered, tally
from bench.growth.results import Growth, Point
from bench.report import faults, growth
from bench.report.pages import PAGES, PICTURE, REPORTS, blocks, drawn, paste
from bench.report.sections import SECTIONS, sections
from bench.storm.figures import judge, percentiles
from tests.unit.bench.made import CONDITIONS

OUTCOME = msgspec.structs.replace(
    judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0),
    whole=40.0,
    empty=50.0,
    cordons=percentiles([1.0]),
    lowest_share=0.9,
    at_zero=0,
)


def point(doomed: int, whole: float, bystanders: int = 0) -> Point:
    return Point(
        doomed=doomed,
        pods=30 * doomed,
        total=3_000,
        nodes=460 if bystanders else 160,
        bystanders=bystanders,
        fill=20.0,
        outcome=msgspec.structs.replace(OUTCOME, whole=whole),
    )


def test_growth_is_a_row_per_storm_and_what_they_amount_to() -> None:
    points = (point(100, 40.0), point(25, 10.0), point(100, 44.0, bystanders=10_000))
    lines = growth.table(
        Growth(conditions=CONDITIONS, worker="one CPU", points=points)
    ).splitlines()
    assert lines[2] == "| 25 of 160 | 750 | 2,250 | 20.0 s | 10.0 s = 0.50 x | 2.00 x |"
    assert lines[4] == "| 100 of 460 | 3,000 | 10,000 | 20.0 s | 44.0 s = 2.20 x | 2.20 x |"
    assert "1.00 x as long with the most" in lines[6]
    assert "1.10 x as long beside so many" in lines[6]


def test_faults_are_a_row_each_with_what_was_sent_and_lost() -> None:
    storm = Suffered(
        fault="down",
        title="API server down",
        pods=3_000,
        nodes=100,
        fill=25.0,
        tally=tally(["a", "b"], ["a"], 0, 0),
        outcome=OUTCOME,
        starts=1,
        planned=1,
        happened=1,
        cpu_seconds=1.0,
        peak_mb=100.0,
        answers={"429": 3, "passed on": 1_000},
    )
    table = faults.table(Faults(conditions=CONDITIONS, worker="one CPU", storms=[storm]))
    assert "| API server down | 2 | 1 | 1 | 0.90 | 0 | 0 | 40 s | 50 s |" in table
    assert "- API server down: passed on 1,000, 429 3." in table


def test_a_table_goes_between_its_markers_and_nowhere_else() -> None:
    readme = "a\n<!-- growth -->\nold\n<!-- /growth -->\nb\n"
    found = {"growth": "new\n", "faults": "unwanted\n"}
    pasted = paste(readme, found)
    assert pasted == "a\n<!-- growth -->\nnew\n<!-- /growth -->\nb\n"
    assert paste(pasted, found) == pasted


def test_a_marker_without_its_end_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no <!-- /growth -->"):
        paste("<!-- growth -->\nold\n", {"growth": "new\n"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_the_results_that_are_kept(page: Path) -> None:
    text = page.read_text()
    assert paste(text, blocks()) == text, f"{page.name} is behind: python -m bench.report"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_table_that_no_results_make(page: Path) -> None:
    shown = re.findall(r"<!-- ([\w-]+) -->\n(.+?)<!-- /\1 -->", page.read_text(), re.DOTALL)
    assert {name for name, _ in shown} - {"demo"} <= blocks().keys()


def test_the_picture_is_that_of_the_results_that_are_kept() -> None:
    kept = PICTURE.read_text() if PICTURE.exists() else None
    assert kept == drawn(), "the picture is behind: python -m bench.report"


def test_every_table_is_on_one_page() -> None:
    marked = [name for name in blocks() if name not in SECTIONS]
    shown = [name for page in PAGES for name in marked if f"<!-- {name} -->" in page.read_text()]
    assert sorted(shown) == sorted(marked)
    assert REPORTS.keys() - SECTIONS.keys() == {"cost", "drainers", "options"}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_bench_has_a_section_with_its_table_or_is_listed_among_those_without(name: str) -> None:
    heading, item = f"## {SECTIONS[name].title}\n", f"- {SECTIONS[name].what.splitlines()[0]}\n"
    measured = sections(dict.fromkeys(SECTIONS, "figures\n"))
    assert heading in measured
    assert item not in measured
    assert "without kept results" not in measured
    without = sections(dict.fromkeys(SECTIONS.keys() - {name}, "figures\n"))
    assert heading not in without
    assert item in without.partition("without kept results")[2]
