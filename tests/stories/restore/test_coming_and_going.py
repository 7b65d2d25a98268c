"""Spot goes and comes back, for good or again and again."""

from itertools import pairwise

from evenkeel.model import names
from evenkeel.model.release import rest_after
from tests.kit.manifests import MAJORITY, deployment, stateful_set
from tests.kit.restoring import RestoreScene

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}


def test_spot_goes_floors_stand_and_the_ratios_come_back_with_it(scene: RestoreScene) -> None:
    scene.given(
        deployment("web", 6, notes=FLOOR_OF_TWO),
        stateful_set("db", 3, notes=MAJORITY),
        on="o0 o1 o2 s0 s1 s2",
    )
    assert scene.split("web") == {"on-demand": 2, "spot": 4}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}

    scene.interrupt("s0", "s1", "s2").run(until=400)
    assert scene.split("web") == {"on-demand": 6}
    assert scene.split("db") == {"on-demand": 3}
    assert scene.moves() == []

    scene.add_nodes("t", 3, spot=True)
    scene.run(until=1000)
    assert scene.split("web") == {"on-demand": 2, "spot": 4}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
    assert len(scene.moves("web")) == 4
    assert len(scene.moves("db")) == 1
    assert scene.lowest("web") == 6


def test_a_day_of_flapping_costs_few_moves(scene: RestoreScene) -> None:
    """Spot is there for half an hour, and gone for half an hour."""
    scene.given(deployment("web", 8, notes=FLOOR_OF_TWO), on="o0 o1 o2")
    assert scene.split("web") == {"on-demand": 8}

    for half_hours in range(48):
        if half_hours % 2 == 0:
            scene.add_nodes(f"s{half_hours}-", 2, spot=True)
        else:
            scene.interrupt(f"s{half_hours - 1}-0", f"s{half_hours - 1}-1")
        scene.run(until=1800 * (half_hours + 1))

    told = [each for each in scene.told("AboveFloor") if each[1].write is not None]
    without_room = [at for at, decision in told if "waits for one" in decision.message]
    moved = [at for at, _ in told if at not in without_room]
    failed = [at for at, decision in scene.told("MoveDidNotLast") if decision.write is not None]
    for earlier, later in pairwise(moved):
        failures = sum(at < later for at in failed)
        if failures:
            assert later - earlier >= rest_after(failures).total_seconds()
    assert (len(moved), len(without_room)) == (19, 6)
    assert scene.lowest("web") == 8


def test_a_day_without_a_failure_and_all_is_forgotten(scene: RestoreScene) -> None:
    scene.given(deployment("web", 8, notes=FLOOR_OF_TWO), on="o0 o1 o2")
    scene.add_nodes("s", 2, spot=True)
    scene.run(until=600)
    scene.interrupt("s0", "s1").run(until=1200)
    assert scene.split("web") == {"on-demand": 8}

    scene.run(until=26 * 3600)
    scene.add_nodes("t", 2, spot=True)
    scene.run(until=26 * 3600 + 420)

    assert scene.split("web") == {"on-demand": 2, "spot": 6}


def test_ratios_come_back_although_nodes_will_be_changed_in_weeks(scene: RestoreScene) -> None:
    """Until a day before they live as before."""
    day = 24 * 3600
    scene.given(deployment("web", 6, notes=FLOOR_OF_TWO), on="o0 o1")
    scene.schedule_change("o0", "o1", start=21 * day).run(until=60)
    scene.add_nodes("s", 2, spot=True)
    scene.schedule_change("s0", start=21 * day, eventArn="another").run(until=900)
    assert scene.split("web") == {"on-demand": 2, "spot": 4}
    assert scene.lowest("web") == 6
