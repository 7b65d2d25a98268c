"""Storms that are written down."""

from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool
from evenkeel_sandbox.storms.shapes import Strike
from evenkeel_sandbox.storms.trace import SAMPLES, Trace, TraceError

POOLS = {Pool("m5", "a"): ["m0", "m1", "m2", "m3"], Pool("c5", "b"): ["c0", "c1"]}
HEAD = "time,pool,kind,share\n"


def strikes(tmp_path: Path, rows: str, seed: int = 0) -> list[Strike]:
    path = tmp_path / "trace.csv"
    path.write_text(HEAD + rows)
    return list(Trace.read(path).strikes(POOLS, seed))


def test_a_share_of_a_pools_nodes_goes_at_its_time(tmp_path: Path) -> None:
    found = strikes(tmp_path, "# large\n30s, m5/a, warning, 50%\n90,c5,warning,100\n")
    assert [each.after for each in found] == [timedelta(seconds=s) for s in (30, 30, 90, 90)]
    assert {each.node for each in found[2:]} == {"c0", "c1"}
    assert len({each.node for each in found[:2]}.intersection(POOLS[Pool("m5", "a")])) == 2


def test_a_warning_is_for_nodes_with_a_recommendation_first(tmp_path: Path) -> None:
    rows = "120,*,warning,50%\n0,*,recommendation,50%\n"
    for seed in range(5):
        found = strikes(tmp_path, rows, seed)
        kinds = {
            kind: [each.node for each in found if each.kind is kind]
            for kind in (NoticeKind.REBALANCE, NoticeKind.INTERRUPTION)
        }
        assert kinds[NoticeKind.REBALANCE] == kinds[NoticeKind.INTERRUPTION]
        assert len(found) == 6


def test_no_node_is_warned_twice(tmp_path: Path) -> None:
    found = strikes(tmp_path, "0,*,warning,50%\n10,*,warning,100%\n20,*,recommendation,100%\n")
    assert sorted(each.node for each in found) == ["c0", "c1", "m0", "m1", "m2", "m3"]


def test_a_pool_that_is_left_to_chance_is_the_same_in_all_rows(tmp_path: Path) -> None:
    rows = (
        "0,pool-1,warning,1%\n60,pool-1,warning,100%\n90,pool-2,warning,100%\n9,pool-3,warning,1%\n"
    )
    firsts = set()
    for seed in range(8):
        found = strikes(tmp_path, rows, seed)
        (last, *others) = [{s.node[0] for s in found if s.after.seconds == t} for t in (90, 0, 60)]
        assert others == [others[0], others[0]] != [last, last]
        assert len(found) == 6
        firsts |= others[0]
    assert firsts == {"m", "c"}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_can_be_read_and_says_where_its_shape_is_from(name: str) -> None:
    assert Trace.read(SAMPLES[name]).strikes(POOLS, 0)
    said = SAMPLES[name].read_text()
    assert "# Where the shape is from: " in said
    assert "# Made up: " in said


def test_nine_of_ten_nodes_of_the_sample_pool_go_within_three_minutes() -> None:
    pool = {Pool("m5", "a"): [f"m{number}" for number in range(100)]}
    found = Trace.read(SAMPLES["one-pool"]).strikes(pool, 0)
    soon = [each for each in found if each.after <= timedelta(minutes=3)]
    assert (len(soon), len(found)) == (92, 100)
    assert {each.kind for each in found} == {NoticeKind.INTERRUPTION}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the first line has to be time,pool,kind,share"),
        ("pool,time\n", "the first line has to be time,pool,kind,share"),
        (HEAD, "no row of the kind warning"),
        (HEAD + "0,*,recommendation,1%\n", "no row of the kind warning"),
        (HEAD + "0,*,warning\n", "line 2: has 3 columns, and not 4"),
        (HEAD + "soon,*,warning,1%\n", "line 2: the time, in seconds, is 'soon'"),
        (HEAD + "0,*,warning,1%\n0,*,warning,101%\n", "line 3: the share, in percent, is '101%'"),
        (HEAD + "nan,*,warning,1%\n", "the time, in seconds, is 'nan'"),
        (HEAD + "0,,warning,1%\n", "the pool is empty"),
        (HEAD + "0,*,panic,1%\n", "the kind 'panic' is none of warning, recommendation"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_row(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match="trace") as raised:
        Trace.read(path)
    assert said in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        Trace.read(tmp_path / "none.csv")
