"""What is not as wanted of the extender."""

import msgspec
import pytest

from bench.extender.results import Calls, Extending, Extent, Pair
from bench.report import extender
from bench.storm.figures import Percentiles
from tests.unit.bench.made import CONDITIONS

QUICK = Percentiles(count=300, median=0.001, p99=0.002, worst=0.003)
SLOW = Percentiles(count=300, median=0.004, p99=0.006, worst=0.01)
GOOD = Extending(
    conditions=CONDITIONS,
    extent=Extent(),
    calls=(Calls(offered=500, filter=QUICK, prioritize=QUICK),),
    peak_mb=80.0,
    pairs=tuple(Pair(without=4.0, extended=took, load=1.0) for took in (4.0, 6.0, 40.0)),
    floor=90,
    on_demand=(90, 90, 90),
)


def test_all_is_as_wanted() -> None:
    assert GOOD.ratio == 1.5
    assert not GOOD.missed


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"calls": (Calls(offered=5000, filter=QUICK, prioritize=SLOW),)},
            "p99 of prioritize for 5000 nodes is 6.0 ms",
        ),
        ({"pairs": GOOD.pairs[1:]}, "5.75 times as long"),
        ({"on_demand": (90, 89, 90)}, "89 pods on on-demand, wanted 90"),
    ],
)
def test_what_is_not_as_wanted_is_told(changes: dict[str, object], told: str) -> None:
    (missed,) = msgspec.structs.replace(GOOD, **changes).missed
    assert told in missed


def test_the_table_has_a_row_per_call() -> None:
    lines = extender.table(GOOD).splitlines()
    assert lines[2] == "| filter, 500 nodes | 300 | 1.0 ms | 2.0 ms | 3.0 ms |"
    assert "4.0 and 6.0 s" in lines[6]
    assert "1.50 times as long" in lines[6]
