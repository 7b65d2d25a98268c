"""Each option in each situation, on one control plane, one after the other."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import conditions
from bench.options.figures import extremes
from bench.options.options import FLOOR, REPLICAS, Option
from bench.options.results import Row, Stood
from bench.options.site import ON_DEMAND, SPOT, Site
from bench.say import Say
from bench.storm.beside import observed
from tests.e2e.placement.webhook import opened
from tests.kit.control_plane import ControlPlane, Options

BURST: Final = 30
LONGEST: Final = 45.0
"""Seconds until a situation is over at the latest."""
COLLECTING: Final = 110.0
"""The same where the controller manager has to find pods of nodes that are gone."""
RUNS: Final = 3
"""So many runs of restore at most."""


@dataclass(frozen=True, slots=True)
class Situation:
    """``act`` begins it; afterwards so many ``replicas`` are wanted, ``wanted`` on on-demand.

    It is seen so many ``times``, each with a workload of its own, and the worst of them counts.
    """

    name: str
    act: Callable[[Site], None]
    replicas: int = REPLICAS
    wanted: int = FLOOR
    longest: float = LONGEST
    asked: bool = False
    is_restored: bool = False
    times: int = 1


ALONE: Final = (
    Situation("at rest", lambda _: time.sleep(3)),  # noqa: TID251 - a real cluster's own time
    Situation("burst", lambda site: site.scale(BURST), replicas=BURST),
    Situation("scaled in", lambda site: site.scale(REPLICAS - 5), replicas=REPLICAS - 5, times=3),
    Situation("rollout", Site.roll_out, asked=True),
)
"""Each with a workload of its own."""
ONE_AFTER_THE_OTHER: Final = (
    Situation("spot gone", Site.lose_spot, wanted=REPLICAS, longest=COLLECTING),
    Situation("spot back", Site.give_spot, is_restored=True),
)
"""Both with the same workload."""


@contextmanager
def cluster() -> Iterator[ControlPlane]:
    """A control plane without QPS limits."""
    with ControlPlane.launch(Options(unlimited=True, durable=True)) as control_plane:
        yield control_plane


def run(control_plane: ControlPlane, option: Option, say: Say) -> Row:
    """Measure one option."""
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder,
        control_plane.namespace() as namespace,
        opened(control_plane, namespace, Path(folder)) as ground,
    ):
        ground.add_nodes(spot=SPOT, on_demand=ON_DEMAND)
        with option.running(ground):
            site = Site(ground, option)
            stood = [
                max(
                    (
                        _alone(site, f"shop-{number}-{turn}", each, say)
                        for turn in range(each.times)
                    ),
                    key=lambda found: (not found.is_exact, found.off, -found.lowest),
                )
                for number, each in enumerate(ALONE)
            ]
            with site.workload("shop"):
                stood += [_stood(site, "shop", each, say) for each in ONE_AFTER_THE_OTHER]
        return Row(
            conditions=conditions.look(),
            option=option.name,
            title=option.title,
            objects=len(option.manifests("shop")),
            stood=stood,
        )


def _alone(site: Site, name: str, situation: Situation, say: Say) -> Stood:
    with site.workload(name):
        return _stood(site, name, situation, say)


def _stood(site: Site, name: str, situation: Situation, say: Say) -> Stood:
    versions = site.versions()
    with observed(site.ground.control_plane, site.ground.namespace) as seen:
        since = time.time()  # noqa: TID251 - the observer's clock
        began = time.monotonic()
        situation.act(site)
        site.settle(situation.replicas, situation.longest)
        before, moved = None, None
        if situation.is_restored and site.option.is_restored:
            _, before, _ = site.count()
            moved = _restored(site, situation)
        seconds = time.monotonic() - began
        time.sleep(1)  # noqa: TID251 - for the observer to see the last of it
        ready, on_demand, pending = site.count()
    found = extremes(seen.sights, site.on_demand, since)
    asked = len(site.option.manifests(name)) if situation.asked else 0
    stood = Stood(
        situation=situation.name,
        replicas=situation.replicas,
        wanted=situation.wanted,
        on_demand=on_demand,
        ready=ready,
        lowest=found.serving.lowest,
        pending=pending,
        most_pending=found.most_pending,
        rollouts=site.versions() - versions - asked,
        seconds=seconds,
        before=before,
        moved=moved,
        refusals=site.refusals(name),
    )
    say(f"{site.option.title}: {stood}")
    return stood


def _restored(site: Site, situation: Situation) -> int:
    """Let restore run until all is as wanted, a few times; how many pods it replaced."""
    made: set[str] = set()
    for _ in range(RUNS):
        _, on_demand, _ = site.count()
        if on_demand == situation.wanted:
            break
        made |= site.restore()
        site.settle(situation.replicas, LONGEST)
    return len(made)
