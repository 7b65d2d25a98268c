"""``python -m bench.weather FILES``: policies side by side under the spot weather of these files.

The files are those of https://github.com/skypilot-org/spot-traces, which has no licence: they are
read where they are. Each is a pool of one cluster. The table and the picture of
docs/spot-weather.md are written.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from bench.conditions import ROOT
from bench.pages import paste
from bench.picture import Spot, scatter
from bench.tables import markdown
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.pool import Pool
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.simulate import running, trial
from evenkeel_cli.simulate.listing import WeatherResult, result
from evenkeel_cli.simulate.results import Trial
from evenkeel_cli.simulate.trial import Policy
from evenkeel_cli.simulate.weathering import DaySetting
from evenkeel_sandbox.storms.weather import PoolTrace, Weather

type Obj = dict[str, Any]

TYPES: Final = ("m5.2xlarge", "m6i.2xlarge", "m7i.2xlarge")
ZONES: Final = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
POOLS: Final = tuple(Pool(type_, zone) for type_ in TYPES for zone in ZONES)
NODES: Final = 16
"""Spot nodes that the pods need. Each pool could have as many."""

ON_A_NODE: Final = 4
SIZES: Final = (16, 8, 8, *4 * (4,), *4 * (2,), *8 * (1,))
"""Replicas of the workloads: together as many pods as the nodes have places."""

BOUND: Final = "25%"


PAGE: Final = ROOT / "docs" / "spot-weather.md"
PICTURE: Final = ROOT / "docs" / "spot-weather.svg"
SPREAD: Final = timedelta(seconds=trial.SPREAD)
WANTED: Final = Spot("wanted", 0.44, 0.0001)


class Variant(NamedTuple):
    """One of the policies that are compared.

    ``floor`` is for workloads of one replica, ``bound`` for all others. ``reserved``: so many nodes
    are kept for workloads of one replica, and ``idle`` ones for all. ``gated``: the namespace is
    behind the gate, so that the autoscaler consolidates. ``node_start`` is in seconds.
    """

    name: str
    policy: Policy = Policy.EVENKEEL
    floor: str = ""
    bound: str = ""
    reserved: int = 0
    idle: int = 0
    gated: bool = False
    node_start: float = trial.NODE_START


WHOLE: Final = Variant("all on-demand", Policy.ALL_ON_DEMAND)
OURS: Final = Variant("with floors and pools", floor="1", bound=BOUND)
VARIANTS: Final = {
    "on-demand": WHOLE,
    "evict": Variant("spot, plain eviction", Policy.EVICT, bound=BOUND),
    "floors": Variant("with floors", floor="1"),
    "pools": OURS,
    "headroom": Variant("with pools and reserved headroom", bound=BOUND, reserved=2),
}
REMEDIES: Final = {
    "on-demand": WHOLE,
    "pools": OURS,
    "room": OURS._replace(name="and room that is kept free", idle=4),
    "fast": OURS._replace(name="and nodes that come after 30 s", node_start=30.0),
    "gated": OURS._replace(name="and an autoscaler that consolidates, behind the gate", gated=True),
}
TRIED: Final = 3
"""On so many days."""


def objects(variant: Variant) -> Sequence[Obj]:
    """A cluster of this policy before its pods are made."""
    return list(_objects(variant))


def _objects(variant: Variant) -> Iterator[Obj]:
    labels = {names.MANAGED: names.TRUE, **({names.GATE: names.TRUE} if variant.gated else {})}
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}
    for number in range(NODES):
        yield _node(f"spot-{number}", POOLS[number % len(POOLS)], "spot")
    for number in range(variant.reserved + variant.idle):
        is_reserved = number < variant.reserved
        yield _node(f"kept-{number}", POOLS[0], "on-demand", kept=True, reserved=is_reserved)
    for number, size in enumerate(SIZES):
        single, several = (names.ON_DEMAND, variant.floor), (names.ONE_POOL_AT_MOST, variant.bound)
        key, value = single if size == 1 else several
        notes = {key: value} if value else {}
        yield _deployment(f"app-{number}-of-{size}", size, notes)


def _node(
    name: str, pool: Pool, capacity: str, *, kept: bool = False, reserved: bool = False
) -> Obj:
    room = {"cpu": str(ON_A_NODE), "memory": "32Gi", "pods": "110"}
    labels = {
        "kubernetes.io/hostname": name,
        names.INSTANCE_TYPE: pool.type,
        names.ZONE: pool.zone,
        "karpenter.sh/capacity-type": capacity,
        **({names.HEADROOM: names.SINGLES} if kept else {}),
    }
    taint = {"key": names.HEADROOM, "value": names.SINGLES, "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {"taints": [taint]} if reserved else {},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _deployment(name: str, size: int, notes: Mapping[str, str]) -> Obj:
    requests = {"cpu": "1", "memory": "1Gi"}
    container = {"name": "app", "image": "app", "resources": {"requests": requests}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "annotations": dict(notes)},
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [container]},
            },
        },
    }


class Kept(msgspec.Struct, frozen=True):
    """A day of one policy."""

    variant: str
    day: int
    trial: Trial


def main(arguments: Sequence[str]) -> int:
    """Write the table and the picture. Exit code 1 if no policy is as wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.weather", description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+", help=f"{len(POOLS)} at most")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="days that are not run again")
    parser.add_argument("-j", dest="jobs", metavar="N", type=int, default=2, help="at a time")
    options = parser.parse_args(arguments)
    pools = tuple(PoolTrace.read(Path(each)) for each in options.files)
    weather = Weather(pools, SPREAD)
    keep, jobs = options.keep, options.jobs
    found = _results(VARIANTS, weather, range(weather.days), keep, jobs)
    tried = _results(REMEDIES, weather, range(TRIED), keep, jobs)
    made = {"weather": table(found), "remedies": table(tried)}
    print(*made.values(), sep="\n")
    PAGE.write_text(paste(PAGE.read_text(), made))
    spots = [_spot(each, found) for each in found]
    PICTURE.write_text(scatter(spots, WANTED))
    met = any(each.saved >= WANTED.saved and each.below <= WANTED.below for each in spots)
    return 0 if met else 1


class Came(NamedTuple):
    """What one policy came to: US dollars a month, and pods that died with their nodes."""

    cost: float
    lost: int
    weather: WeatherResult


type Results = Mapping[Variant, Came]


def _results(
    variants: Mapping[str, Variant],
    weather: Weather,
    days: Sequence[int],
    keep: Path | None,
    jobs: int,
) -> Results:
    return {
        each: _came(_days(key, each, weather, days, keep, jobs)) for key, each in variants.items()
    }


def _days(
    key: str,
    variant: Variant,
    weather: Weather,
    days: Sequence[int],
    keep: Path | None,
    jobs: int,
) -> Sequence[Trial]:
    """Days of one policy, those that are kept as they are."""
    lines = keep.read_bytes().splitlines() if keep is not None and keep.exists() else []
    kept = [msgspec.json.decode(each, type=Kept) for each in lines]
    known = {each.day: each.trial for each in kept if each.variant == key}
    setting = DaySetting(
        policy=variant.policy,
        node_start=timedelta(seconds=variant.node_start),
        labels=WELL_KNOWN,
        weather=weather,
        prices=read_prices(None),
    )
    cluster = trial.cluster_under(variant.policy, objects(variant), WELL_KNOWN)
    missing = [day for day in days if day not in known]
    for begin in range(0, len(missing), jobs):
        new = missing[begin : begin + jobs]
        (trials,) = running.storms([(cluster, setting)], new, jobs)
        known |= dict(zip(new, trials, strict=True))
        if keep is not None:
            with keep.open("ab") as file:
                for day in new:
                    file.write(msgspec.json.encode(Kept(key, day, known[day])) + b"\n")
    return [known[day] for day in days]


def _came(trials: Sequence[Trial]) -> Came:
    found = result("", trials, None)
    assert found.cost is not None
    assert found.weather is not None
    return Came(found.cost, found.pods_lost, found.weather)


def _spot(variant: Variant, found: Results) -> Spot:
    below, is_ours = found[variant].weather.share_below, variant.policy is Policy.EVENKEEL
    return Spot(variant.name, _saved(variant, found), below, matters=is_ours)


def _saved(variant: Variant, found: Results) -> float:
    return 1 - found[variant].cost / found[WHOLE].cost


def table(found: Results) -> str:
    """Markdown: a row for each policy."""
    rows = [
        [
            str(number),
            variant.name,
            f"${cost:,.0f}",
            f"{_saved(variant, found):.1%}",
            f"{its.minutes_below:,.1f} of {its.minutes:,.0f}",
            f"{its.share_below:.3%}",
            f"{its.minutes_at_zero:,.1f}",
            str(its.falls),
            str(its.falls_over) if variant.bound else "-",
            str(lost),
        ]
        for number, (variant, (cost, lost, its)) in enumerate(found.items(), start=1)
    ]
    head = [
        *("", "policy", "a month", "saved", "workload-minutes below wanted", "share"),
        *("at zero", "falls of a pool to zero", "of them over the bound", "pods lost"),
    ]
    return markdown(head, rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
