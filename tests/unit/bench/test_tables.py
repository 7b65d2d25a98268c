"""Measurements as tables, and how they are kept."""

from pathlib import Path

import msgspec
import pytest

from bench.book import Book
from bench.figure import NONE, Figure, Mark, marked
from bench.tables import below, compared, missed, table, written
from tests.unit.bench.made import CONDITIONS, measured

CONDITION = (
    "Commit 1a2b3c4, 2026-01-05, Kubernetes 1.36.3, 2 CPUs (x), 24 GiB, Linux, Python 3.13.0,"
    " load 1.0."
)
LATER = msgspec.structs.replace(CONDITIONS, commit="5d6e7f8", date="2026-01-06")
BELOW = Figure("below", 0, mark=NONE)


def test_a_size_is_a_column_and_what_is_not_as_wanted_is_bold() -> None:
    small = measured([BELOW, Figure("time", 1.5, "s")], size="A")
    large = measured([Figure("below", 3, mark=NONE), Figure("time", None, "s")], size="D")
    assert table([small, large]) == (
        "| | A | D | wanted |\n"
        "|---|---|---|---|\n"
        "| below | 0 | **3** | at most 0 |\n"
        "| time | 1.50 s | never | |\n\n"
        f"- One round. {CONDITION}\n"
    )
    assert missed(large) == ["below: 3, wanted at most 0"]
    assert missed(small) == []


def test_where_more_was_measured_than_there_are_figures_the_figures_are_columns() -> None:
    rounds = [Figure("time", n, "s", Mark(most=2), of=f"way {n}") for n in (1, 2, 3)]
    assert table([measured(rounds)]).splitlines()[:5] == [
        "| | time (at most 2) |",
        "|---|---|",
        "| way 1 | 1 s |",
        "| way 2 | 2 s |",
        "| way 3 | **3 s** |",
    ]


def test_of_several_rounds_the_median_is_shown_and_each_beside_it() -> None:
    rounds = [[Figure("time", seconds, "s")] for seconds in (3, 1, 2)]
    text = table([measured(*rounds)])
    assert "| time | 2 s (3, 1, 2) |" in text
    assert "- 3 rounds: medians, of what has a mark the worst." in text


@pytest.mark.parametrize(
    ("mark", "worst"), [(NONE, "5"), (Mark(least=3), "0"), (Mark(most=2, least=2), "5")]
)
def test_of_what_has_a_mark_the_worst_round_counts(mark: Mark, worst: str) -> None:
    rounds = [[Figure("below", count, mark=mark)] for count in (0, 5, 0)]
    assert f"| **{worst} (0, 5, 0)** |" in table([measured(*rounds)])


def test_a_moment_that_one_round_never_saw_has_no_median() -> None:
    assert "| time | never (1, never) |" in table(
        [measured([Figure("time", 1, "s")], [Figure("time", None, "s")])]
    )


def test_a_mark_that_not_all_sizes_have_names_them() -> None:
    time = Figure("time", 1, "s")
    pair = [measured([BELOW, time], size="A"), measured([Figure("below", 2), time], size="C")]
    assert "| below | 0 | 2 | at most 0 |" in table(pair)
    other = measured([Figure("below", 1, mark=Mark(least=1)), time], size="D")
    assert "| at most 0 (A); at least 1 (D) |" in table([pair[0], other])


def test_curves_and_what_is_kept_for_reckoning_are_not_shown() -> None:
    figures = [BELOW, Figure("curve", [1, 2]), Figure("GET pods", 7, shown=False)]
    text = table([measured(figures)])
    assert "curve" not in text
    assert "GET pods" not in text


def test_two_commits_are_compared_figure_by_figure() -> None:
    found = measured(
        [Figure("time", 1.0, "s"), Figure("GET pods", 4, shown=False), Figure("curve", [1])],
        base="5d6e7f8",
        against=[[Figure("time", 2.0, "s"), Figure("GET pods", 0, shown=False)]],
    )
    assert compared(found).splitlines()[:4] == [
        "| gate 50 a second | this | 5d6e7f8 | ratio |",
        "|---|---|---|---|",
        "| time | 1 s | 2 s | 0.50 |",
        "| GET pods | 4 | 0 | - |",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.456, "s", "0.46 s"),
        (12.34, "ms", "12.3 ms"),
        (1234.5, "MB", "1,234 MB"),
        (3, "", "3"),
        (1.594, "$", "$1.59"),
        (0.0004, "$", "$0.0004"),
        (None, "s", "never"),
    ],
)
def test_a_value_has_as_many_digits_as_are_worth_reading(
    value: float | None, unit: str, text: str
) -> None:
    assert written(value, unit) == text


def test_a_mark_says_what_is_wanted() -> None:
    marks = (NONE, Mark(least=2), Mark(most=3, least=3))
    assert [str(each) for each in marks] == ["at most 0", "at least 2", "exactly 3"]


def test_a_mark_is_put_on_the_figure_that_it_is_for() -> None:
    figures = [Figure("time", 1, of="a"), Figure("time", 1, of="b")]
    found = marked(figures, {("time", "b"): NONE})
    assert [each.mark for each in found] == [None, NONE]


def test_a_measurement_stays_until_the_same_is_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    old, new = measured([BELOW]), measured([Figure("below", 1)], conditions=LATER)
    other = measured([BELOW], size="8 a second")
    for each in (old, other, new):
        Book(file).keep(each)
    kept = Book(file)
    found = [(each.size, each.value("below"), each.conditions) for each in kept.of("gate")]
    assert found == [(other.size, 0, CONDITIONS), (new.size, 1, LATER)]
    assert kept.find("storm", "A") is None
    assert len(file.read_text().splitlines()) == 2


def test_what_is_of_several_commits_says_of_which_each_is() -> None:
    small, large = measured([BELOW], size="A"), measured([BELOW], size="D")
    busy = msgspec.structs.replace(CONDITIONS, load=2.5)
    later = measured([BELOW], size="C", conditions=LATER)
    pair = [small, msgspec.structs.replace(large, conditions=busy)]
    assert table([*pair, later]).splitlines()[-1] == (
        f"- One round. C: {LATER.sitting}, load 1.0. A, D: {CONDITIONS.sitting}, load 1.0 to 2.5."
    )
    assert table(pair).splitlines()[-1] == (
        f"- One round. C{CONDITIONS.sitting[1:]}, load 1.0 to 2.5."
    )


def test_of_several_cases_is_said_what_measures_the_same_again() -> None:
    storms = [measured([BELOW], case="storm", size=size, conditions=LATER) for size in "AD"]
    webhook = measured([BELOW], case="webhook", size="paced", conditions=LATER)
    assert below("Worst", [measured([BELOW], size="50"), *storms, webhook]) == (
        f"- Worst. `storm A D`, `webhook paced`: {LATER.sitting}, load 1.0."
        f" `gate 50`: {CONDITIONS.sitting}, load 1.0.\n"
    )


def test_a_figure_of_a_measurement_is_found_by_its_name_and_a_curve_s_is_its_worst() -> None:
    found = measured(
        [Figure("time", 1, of="a"), Figure("curve", [3, 2])],
        [Figure("time", 2, of="a"), Figure("curve", [3, 1])],
    )
    assert found.value("time", "a") == 1.5
    assert found.figures()[1].value == [3, 1]
    with pytest.raises(KeyError, match="no figure 'speed'"):
        found.value("speed")
