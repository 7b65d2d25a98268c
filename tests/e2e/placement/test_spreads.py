"""Hard spreads over zones on the real API server, with the real scheduler, while nodes go."""

from collections import Counter
from collections.abc import Sequence

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

ZONES = "abc"
EVEN = {
    "maxSkew": 1,
    "topologyKey": names.ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def by_zone(site: Site) -> Sequence[int]:
    """How many pods there are in each zone, the fewest first."""
    pods = site.witness.pods(app="web")
    return sorted(Counter(pod["spec"].get("nodeName", "?")[-2] for pod in pods).values())


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        pytest.param(["a1"], [3, 3, 3], id="the zone has another node"),
        pytest.param(["a1", "a2"], [4, 5], id="the zone has no other node"),
    ],
)
def test_all_are_replaced_and_no_zone_has_more_than_its_share(
    site: Site, ground: Ground, gone: Sequence[str], left: Sequence[int]
) -> None:
    nodes = [f"{zone}{number}" for zone in ZONES for number in (1, 2)]
    for name in nodes:
        site.add_nodes(name, zone=f"eu-central-1{name[0]}")
    ground.serve()
    site.run(deployment("web", 9, start="200ms", topologySpreadConstraints=[EVEN]))
    assert by_zone(site) == [3, 3, 3]
    evenkeel = site.deploy()
    for name in gone:
        evenkeel.notify(site.warning(name))
    others = [name for name in nodes if name not in gone]
    site.wait_for("all to be replaced", lambda: site.is_settled("web", 9, *others))
    assert by_zone(site) == left
    assert site.witness.lowest("web") == 9
