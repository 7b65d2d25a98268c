"""What two commits in the same storms are told as."""

from pathlib import Path

import msgspec
import pytest

from bench.pairs.results import Deletion, Pair, Pairs, Run, Sittings, median, quotient
from bench.report import pairs as report
from bench.repository import Repository
from bench.storm import own
from bench.storm.figures import judge, percentiles
from tests.unit.bench.made import CONDITIONS

OUTCOME = msgspec.structs.replace(
    judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0),
    released=21.0,
    whole=60.0,
    empty=70.0,
    overlap=percentiles([1.0, 2.0, 9.0]),
)
SENT = {"GET pods": 30, "GET configmaps": 50, "LIST pods": 15, "AWS SendMessage": 7}


def ran(seconds: float | None, cpu: float = 10.0) -> Run:
    return Run(
        pods=300,
        fill=20.0,
        outcome=msgspec.structs.replace(OUTCOME, empty=seconds),
        seconds=100.0,
        cpu_seconds=cpu,
        peak_mb=99.0,
        requests=SENT,
    )


def sitting(*pairs: Pair) -> Pairs:
    return Pairs(
        scenario="A",
        title="idle capacity",
        condition="no QPS limit",
        nodes=10,
        pods=300,
        conditions=CONDITIONS,
        worker="one CPU",
        base="def",
        pairs=pairs,
    )


def test_a_row_has_the_medians_of_both_and_their_ratio() -> None:
    pairs = sitting(
        Pair(this=ran(70.0), base=ran(100.0)),
        Pair(this=ran(72.0), base=ran(90.0)),
        Pair(this=ran(90.0), base=ran(80.0), slow=1),
    )
    table = report.table(Sittings({"A": pairs}))
    row = "72.0 s (70.0 s, 72.0 s, 90.0 s) | 90.0 s (100.0 s, 90.0 s, 80.0 s) | 0.80 |"
    assert f"| **all off and Ready** | {row}" in table
    assert "(1 more given up: a cluster took too long to fill)" in table


def test_one_pair_is_told_without_medians_and_with_what_was_sent() -> None:
    table = report.table(Sittings({"A": sitting(Pair(this=ran(70.0), base=ran(None, cpu=20.0)))}))
    assert "| storm A | this (1a2b3c4) | BASE (def) | ratio |\n" in table
    assert "| all off | 70.0 s | never | - |" in table
    assert "| overlap, median | 2.0 s | 2.0 s | 1.00 |" in table
    assert "| CPU | 10.0 s | 20.0 s | 0.50 |" in table
    assert "| requests per pod | 0.32 | 0.32 | 1.00 |" in table
    assert "| GETs per pod | 0.10 | 0.10 | 1.00 |" in table
    assert "| pause asked per second | 0.50 | 0.50 | 1.00 |" in table
    assert "| AWS SendMessage | 7 | 7 | 1.00 |" in table


def test_a_bare_deletion_is_told_beside_them() -> None:
    beside = Deletion(fill=20.0, outcome=msgspec.structs.replace(OUTCOME, empty=50.0))
    pairs = sitting(Pair(this=ran(72.0), base=ran(100.0), deletion=beside))
    assert pairs.to_deletion == pytest.approx(72.0 / 60.0)
    table = report.table(Sittings({"A": pairs}))
    assert "| **all off and Ready** | 72.0 s | 100.0 s | 0.72 | 60.0 s |" in table
    assert "| CPU | 10.0 s | 10.0 s | 1.00 | - |" in table
    assert "- 1.20 x the time of the bare deletion." in table


def test_a_terminal_shows_the_same_in_columns() -> None:
    lines = report.plain(sitting(Pair(this=ran(70.0), base=ran(100.0)))).splitlines()
    assert lines[0].split("  ")[0] == "storm A"
    row = next(line for line in lines if line.startswith("all off and Ready"))
    assert row.split() == ["all", "off", "and", "Ready", "70.0", "s", "100.0", "s", "0.70"]
    assert row.index("70.0") == lines[0].index("this")


def test_what_never_was_has_no_median() -> None:
    assert median([1.0, None, 3.0]) is None
    assert median([]) is None
    assert median([1.0, 5.0, 3.0]) == 3.0
    assert quotient([1.0], [None]) is None
    assert quotient([1.0], [0.0]) is None


def test_the_pause_is_told_apart_from_reads_of_pods_and_workloads() -> None:
    assert (own.to_cluster(SENT), own.gets(SENT), own.pauses(SENT)) == (95, 30, 50)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path)
    found.git("init", "--quiet")
    (tmp_path / "a").write_text("old")
    found.git("add", "a")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    found.git(*who, "commit", "--quiet", "--message", "a")
    return found


def test_another_commit_is_there_for_a_while(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("new")
    with repository.checked_out("HEAD") as tree:
        assert not tree.is_relative_to(tmp_path)
        assert (tree / "a").read_text() == "old"
    assert not tree.exists()
    assert str(tree) not in repository.git("worktree", "list")


def test_a_changed_tree_is_told_from_its_commit(repository: Repository, tmp_path: Path) -> None:
    name = repository.name_of("HEAD")
    assert repository.here == name
    (tmp_path / "a").write_text("new")
    assert repository.here == f"{name}, changed"


def test_a_commit_that_there_is_not_is_an_error(repository: Repository) -> None:
    with pytest.raises(AssertionError, match="no-such"), repository.checked_out("no-such"):
        pass
