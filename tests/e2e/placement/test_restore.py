"""``evenkeel restore`` as a person runs it, on the real API server with the real scheduler."""

import pytest

from evenkeel.model import names
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import all_ready, planned, restore
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.manifests import MAJORITY, Manifest

pytestmark = pytest.mark.controlplane


def test_what_a_dead_webhook_missed_is_repaired(ground: Ground) -> None:
    ground.add_nodes(spot=3, on_demand=2)
    ground.serve()
    ground.apply(deployment("web", 3, annotations={names.ON_DEMAND: "50%"}, start="200ms"))
    assert len(on_demand(ground.settled(3))) == 2
    ground.scale("Deployment", "web", 10)
    ground.wait_for("some more pods", lambda: len(ground.pods()) > 4)
    ground.webhooks[0].kill()
    before = all_ready(ground, 10)
    short = 5 - len(on_demand(before))
    ground.unserve()
    ground.serve()

    row = planned(ground)["web"]
    assert (row["action"], row["reason"]) == (
        ("release", "FloorMissing" if short > 0 else "AboveFloor")
        if short
        else ("leave", "AsWanted")
    )
    assert {pod["metadata"]["uid"] for pod in ground.pods()} == {
        pod["metadata"]["uid"] for pod in before
    }

    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(on_demand(all_ready(ground, 10))) == 5
    assert f"{abs(short)} pod" in done.stdout
    assert planned(ground)["web"]["reason"] == "AsWanted"


def test_floors_stand_when_all_spot_dies_and_the_ratios_come_back_with_it(ground: Ground) -> None:
    ground.add_nodes(spot=2, on_demand=3)
    ground.serve()
    ground.apply(deployment("web", 5, annotations={names.ON_DEMAND: "2"}, start="200ms"))
    ground.apply(stateful_set("db", 3, annotations=MAJORITY))
    assert len(on_demand(all_ready(ground, 8))) == 2 + 2

    for number in range(2):
        ground.control_plane.delete_node(f"{ground.namespace}-spot-{number}")
    assert len(on_demand(ground.pods())) >= 4
    assert len(on_demand(all_ready(ground, 8, nowhere="-spot-"))) == 8

    ground.add_nodes(spot=2, on_demand=0)
    done = restore(ground, "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    pods = all_ready(ground, 8)
    assert len(on_demand(pods)) == 4
    reasons = [line.split() for line in done.stdout.splitlines()]
    assert sum("AboveFloor:" in words for words in reasons) == 4


def test_what_the_policy_places_comes_back_to_spot_and_what_it_cannot_tell_stays(
    ground: Ground,
) -> None:
    ground.add_nodes(spot=0, on_demand=3)
    ground.police()
    ground.apply(
        floored(deployment("web", 3, start="200ms"), "none"),
        floored(deployment("some", 2, start="200ms"), "1"),
        floored(stateful_set("db", 3), "majority"),
    )
    assert len(on_demand(all_ready(ground, 8))) == 8
    ground.add_nodes(spot=4, on_demand=0)
    rows = planned(ground)
    assert {name: row["reason"] for name, row in rows.items()} == {
        "web": "AboveFloor",
        "db": "AboveFloor",
        "some": "PolicyCannotTell",
    }

    done = restore(ground, "--apply")

    assert "\n4 pods moved.\n" in done.stdout
    found = [pod["metadata"]["name"] for pod in on_demand(all_ready(ground, 8))]
    assert sorted(name.partition("-")[0] for name in found) == ["db", "db", "some", "some"]
    assert {"db-0", "db-1"} <= {*found}
    assert planned(ground)["db"]["reason"] == planned(ground)["web"]["reason"] == "AsWanted"


def floored(made: Manifest, floor: str) -> Manifest:
    """A workload with a floor on its pod template."""
    made["spec"]["template"]["metadata"]["annotations"][names.ON_DEMAND] = floor
    return made


def test_a_default_floor_is_a_preference_and_without_a_webhook_none_moves(ground: Ground) -> None:
    """No pod waits for on-demand, the next goes there once it can, and none is moved for it."""
    ground.add_nodes(spot=2, on_demand=0)
    ground.serve()
    ground.apply(stateful_set("db", 1, start="200ms"))
    (first,) = all_ready(ground, 1)
    assert on_demand([first]) == []
    ground.add_nodes(spot=0, on_demand=1)
    assert planned(ground)["db"]["reason"] == "DefaultFloor"
    assert restore(ground, "--apply").returncode == 0
    assert [pod["metadata"]["uid"] for pod in ground.pods()] == [first["metadata"]["uid"]]

    ground.control_plane.evict(ground.namespace, "db-0")
    ground.wait_for("the next pod", lambda: _uids(ground) - {first["metadata"]["uid"]})
    assert len(on_demand(all_ready(ground, 1))) == 1
    assert planned(ground)["db"]["reason"] == "AsWanted"

    asked = {"metadata": {"annotations": {names.ON_DEMAND: "none"}}}
    ground.control_plane.merge("apps/v1", "StatefulSet", "db", asked, ground.namespace)
    assert planned(ground)["db"]["action"] == "evict"
    ground.unserve()
    assert planned(ground)["db"]["reason"] == "NothingPlaces"


def _uids(ground: Ground) -> set[str]:
    return {pod["metadata"]["uid"] for pod in ground.pods()}
