"""The curve of Ready pods in a storm, and the picture of it."""

from typing import Any
from xml.etree import ElementTree as ET

from bench.report.picture import BOTTOM, TOP, Curve, picture
from bench.storm.curve import ready
from bench.storm.figures import Sight

BEGAN = 1_000.0
SVG = "{http://www.w3.org/2000/svg}"


def pod(at: float, uid: str, node: str, **state: Any) -> Sight:
    values = {"ready": True, "leaving": False, "released": False, "gone": False, **state}
    return Sight(
        at=BEGAN + at, kind="pod", uid=uid, name=uid, app="web", node=node, cordoned=False, **values
    )


def curve(*sights: Sight, wanted: int = 2) -> list[int]:
    before = (pod(-5, "a", "s1"), pod(-5, "b", "s2"))
    return [*ready([*before, *sights], {"web": wanted}, {"s1": BEGAN, "s2": BEGAN}, 120.0)]


def test_a_step_has_the_fewest_pods_that_were_ready_in_it() -> None:
    told = (
        pod(2.5, "a", "s1", leaving=True),
        pod(3.0, "b", "s2", leaving=True),
        pod(3.5, "c", "o1"),
        pod(5.0, "d", "o1"),
        pod(6.5, "d", "o1"),
    )
    assert curve(*told) == [2, 0, 1, 2]


def test_a_surplus_of_one_workload_does_not_hide_what_another_lacks() -> None:
    assert curve(pod(1.0, "c", "o1"), pod(2.0, "d", "o1")) == [2, 2]


def test_a_pod_whose_node_has_ended_is_not_ready_whatever_it_says() -> None:
    found = curve(pod(119.0, "c", "o1"), pod(121.0, "a", "s1"))
    assert (found[59], found[60]) == (2, 1)


def test_what_happened_before_the_notice_is_not_drawn() -> None:
    assert curve(pod(-3.0, "a", "s1", ready=False), pod(-1.0, "a", "s1"), pod(1.0, "x", "o1")) == [
        2
    ]


def test_a_picture_has_each_curve_in_its_share_and_names_it() -> None:
    curves = [Curve("Evenkeel", [2, 2, 2], 2), Curve("drain & co", [2, 0, 1], 2)]
    drawn = ET.fromstring(picture(curves))  # noqa: S314 - made here
    lines = [each.attrib["points"] for each in drawn.iter(f"{SVG}polyline")]
    heights = [[float(each.partition(",")[2]) for each in line.split()] for line in lines]
    assert heights == [[TOP, BOTTOM, (TOP + BOTTOM) / 2], [TOP, TOP, TOP]]
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert {"Evenkeel", "drain & co", "100 %"} <= set(texts)


def test_the_end_of_the_nodes_is_marked_where_the_storm_was_watched_for_so_long() -> None:
    short, long = (picture([Curve("x", [1] * steps, 1)]) for steps in (20, 70))
    assert "nodes end" in long
    assert "nodes end" not in short
