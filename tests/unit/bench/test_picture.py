"""The picture of a storm's curves."""

from xml.etree import ElementTree as ET

from bench.picture import BOTTOM, TOP, Curve, picture

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
