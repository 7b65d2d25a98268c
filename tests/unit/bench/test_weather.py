"""The cluster and the tables of the policies that are compared under spot weather."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from bench import weather
from bench.weather import REMEDIES, SIZES, VARIANTS, Kept, main, objects
from evenkeel.model import names
from evenkeel_cli.simulate.results import Fall, Spell, Trial


def test_the_pods_fill_the_spot_nodes() -> None:
    assert sum(SIZES) == weather.NODES * weather.ON_A_NODE


@pytest.mark.parametrize("key", [*VARIANTS, *REMEDIES])
def test_each_workload_has_a_floor_or_a_bound_as_its_policy_says(key: str) -> None:
    variant = (VARIANTS | REMEDIES)[key]
    for each in objects(variant):
        if each["kind"] == "Deployment":
            notes = each["metadata"]["annotations"]
            is_single = each["spec"]["replicas"] == 1
            assert notes.get(names.ON_DEMAND, "") == (variant.floor if is_single else "")
            assert notes.get(names.ONE_POOL_AT_MOST, "") == ("" if is_single else variant.bound)


def day(key: str, number: int, cost: float, below: float, falls: Sequence[Fall] = ()) -> bytes:
    spell = Spell(
        minutes=1000,
        below=below,
        hours=24,
        spot_hours=1,
        on_demand_hours=1,
        cost=cost,
        falls=falls,
    )
    kept = Kept(key, number, Trial(nodes=1, made=1, lost=0, dips=(), spell=spell))
    return msgspec.json.encode(kept) + b"\n"


def test_kept_days_become_tables_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, keep, page = tmp_path / "a.json", tmp_path / "keep", tmp_path / "page.md"
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 43_200}, "data": [1] * 6}))
    costs = dict.fromkeys(VARIANTS | REMEDIES, 60.0) | {"on-demand": 100.0, "evict": 40.0}
    keep.write_bytes(
        b"".join(day(key, n, cost, 2) for key, cost in costs.items() for n in range(3))
    )
    page.write_text(
        "".join(f"<!-- {each} -->\n<!-- /{each} -->\n" for each in ("weather", "remedies"))
    )
    monkeypatch.setattr(weather, "PAGE", page)
    monkeypatch.setattr(weather, "PICTURE", tmp_path / "picture.svg")
    assert main([str(trace), "--keep", str(keep)]) == 1
    rows = page.read_text().splitlines()
    assert (
        "| 2 | spot, plain eviction | $40 | 60.0% | 6.0 of 3,000 | 0.200% | 0.0 | 0 | 0 | 0 |"
        in rows
    )
    assert len([row for row in rows if row.startswith("| ")]) == 2 + len(VARIANTS) + len(REMEDIES)
    assert (tmp_path / "picture.svg").read_text().count("<circle") == len(VARIANTS)
