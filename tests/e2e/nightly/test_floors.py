"""All spot nodes die, and nothing has room for a replacement: what stands is the floors."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.webhook import opened
from tests.kit.manifests import MAJORITY

pytestmark = pytest.mark.nightly

SPOT: Final = tuple(f"spot-{number:02d}" for number in range(20))
OTHERS: Final = tuple(f"demand-{number}" for number in range(10))
LARGE: Final = tuple(f"large-{number}" for number in range(10))
SETS: Final = tuple(f"set-{number}" for number in range(10))
FLOORS: Final = dict.fromkeys(LARGE, 8) | dict.fromkeys(SETS, 2)
"""A fifth of 38 replicas, and the majority of three ordinals."""
ROOM: Final = sum(FLOORS.values()) // len(OTHERS)
"""So many pods fit on an on-demand node: the floors fill them."""
LEAD: Final = timedelta(minutes=2)
LAST_MOMENTS: Final = timedelta(seconds=20)
"""The evictions of so many pods, which have two seconds to end, begin no earlier."""


def where(site: Site, nodes: tuple[str, ...]) -> Counter[str]:
    """How many pods of which workload are on these nodes."""
    there = set(map(site.node_name, nodes))
    pods = [pod for pod in site.witness.pods() if pod["spec"].get("nodeName") in there]
    return Counter(pod["metadata"]["labels"]["app"] for pod in pods)


def test_floors_stand_and_what_is_above_them_stays_to_its_last_moment(
    site: Site, tmp_path: Path
) -> None:
    with opened(site.control_plane, site.namespace, tmp_path) as ground:
        site.add_nodes(*SPOT, pods=30)
        site.add_nodes(*OTHERS, spot=False, pods=ROOM)
        ground.serve(2)
        site.run(
            *(deployment(name, 38, annotations={names.ON_DEMAND: "20%"}) for name in LARGE),
            *(stateful_set(name, 3, annotations=MAJORITY) for name in SETS),
        )
        assert where(site, OTHERS) == FLOORS
        site.deploy().notify(*(site.warning(short) for short in SPOT))
        deadline = site.clock.now() + LEAD
        site.wait_for("the end of the nodes", lambda: site.clock.now() >= deadline, 150)
        assert not where(site, SPOT)
        site.terminate(*SPOT)
        for short in SPOT:
            site.control_plane.delete_node(site.node_name(short))
        site.let_pass(20)

        assert where(site, OTHERS) == FLOORS
        lowest = {name: site.witness.lowest(name) for name in FLOORS}
        assert all(lowest[name] >= floor for name, floor in FLOORS.items()), lowest
        gone = {
            name: [each.at for each in site.witness.departures(app=name) if ran(each.pod)]
            for name in LARGE
        }
        assert {name: len(times) for name, times in gone.items()} == dict.fromkeys(LARGE, 38 - 8)
        first = min(time for times in gone.values() for time in times)
        assert deadline - first < LAST_MOMENTS


def ran(pod: dict[str, object]) -> bool:
    """Whether it had a node."""
    return "nodeName" in pod["spec"]  # type: ignore[operator]
