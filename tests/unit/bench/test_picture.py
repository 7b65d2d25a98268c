"""The pictures of a storm's curves, and of what policies come to."""

from xml.etree import ElementTree as ET

from bench.picture import BOTTOM, LEFT, RIGHT, TOP, Curve, Spot, picture, scatter

SVG = "{http://www.w3.org/2000/svg}"


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


def test_what_saves_more_is_further_right_and_what_has_too_few_for_longer_is_higher() -> None:
    spots = [Spot("none", 0, 0), Spot("few", 0.35, 0.0001), Spot("many", 0.7, 0.02, matters=True)]
    drawn = ET.fromstring(scatter(spots, Spot("wanted", 0.44, 0.0001)))  # noqa: S314 - made here
    points = [(e.attrib["cx"], e.attrib["cy"]) for e in drawn.iter(f"{SVG}circle")]
    (x0, y0), (x1, y1), (x2, y2) = [(float(x), float(y)) for x, y in points]
    assert (x0, x1, x2) == (LEFT, (LEFT + RIGHT) / 2, RIGHT)
    assert (y0, y2) == (BOTTOM, TOP)
    assert TOP < y1 < BOTTOM
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert {"1", "2", "3", "wanted"} <= set(texts)
