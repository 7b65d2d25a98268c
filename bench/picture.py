"""Pictures that a light and a dark page can show: a storm's curves, what policies come to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Final
from xml.sax.saxutils import escape

from bench.lab.sights import STEP
from bench.lab.storm import LEAD

WIDTH: Final = 480
"""A phone shows it in about three quarters of its size, and 17 becomes 12.7."""
HEIGHT: Final = 318
LEFT, RIGHT, TOP, BOTTOM = 64, 460, 38, 232
LEGEND: Final = 306
FONT: Final = 17
LETTER: Final = 9.5
"""About as wide as a letter of the widest usual font."""
GREY: Final = "#6f7a85"
"""Readable on white and on nearly black, as are the colours of the curves."""
TICK: Final = 30


@dataclass(frozen=True, slots=True)
class Look:
    """How a curve is drawn: apart from the others also without its colour."""

    colour: str
    dashes: str
    width: float


LOOKS: Final = (
    Look("#3a85e0", "none", 3.0),
    Look("#c4751b", "7 4", 2.0),
    Look("#c2559d", "2 3", 2.0),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """How many of ``pods`` were Ready, every ``STEP`` seconds from the notice on."""

    name: str
    ready: Sequence[int]
    pods: int


@dataclass(frozen=True, slots=True)
class Spot:
    """What a policy comes to: the share of dollars it saves, and of time that is below wanted."""

    name: str
    saved: float
    below: float
    matters: bool = False


def picture(curves: Sequence[Curve]) -> str:
    """SVG of three curves at most, the one that matters first."""
    seconds = max(STEP * (len(each.ready) - 1) for each in curves)
    longest = -(-seconds // TICK) * TICK
    drawn = list(zip(curves, LOOKS, strict=False))
    names = ", ".join(each.name for each in curves)
    return _drawn(
        f"Share of Ready pods in the course of a storm: {names}",
        [
            *_axes(longest),
            # What matters is drawn last, above the others.
            *(_curve(each, look, longest) for each, look in reversed(drawn)),
            *_legend(drawn),
        ],
        HEIGHT,
    )


def scatter(spots: Sequence[Spot], wanted: Spot) -> str:
    """SVG of what policies save and cost in service, with the corner that is wanted."""
    names = ", ".join(each.name for each in spots)
    left, top = _across(wanted.saved), _down(wanted.below)
    lines = [_text(4, 18, "% of the workloads' time below wanted")]
    for decade, label in DECADES.items():
        y = _down(decade)
        lines.append(f'<path d="M{LEFT} {y}H{RIGHT}" stroke="{GREY}" stroke-opacity="0.35"/>')
        lines.append(_text(LEFT - 6, y + 6, label, "end"))
    lines += [
        _text(_across(percent / 100), BOTTOM + 21, f"{percent}", "middle")
        for percent in range(0, 71, 10)
    ]
    lines.append(_text((LEFT + RIGHT) / 2, BOTTOM + 43, "% saved of all on-demand", "middle"))
    lines.append(
        f'<path d="M{left} {top}H{RIGHT}V{BOTTOM}H{left}Z" fill="{LOOKS[0].colour}"'
        ' fill-opacity="0.15"/>'
    )
    lines += [
        _text(RIGHT - 4, BOTTOM - 8, "wanted", "end"),
        *(line for number, each in enumerate(spots, start=1) for line in _spot(each, number)),
    ]
    return _drawn(f"What policies save, and how long workloads have too few: {names}", lines, 282)


DECADES: Final = {0.0: "0", 0.0001: "0.01", 0.001: "0.1", 0.01: "1"}
"""Shares of the time, on a scale on which nothing stands for a hundredth of the first of them."""


SIDES: Final = ((0, -11, "middle"), (11, 6, "start"), (0, 22, "middle"), (-11, 6, "end"))
"""Where the numbers of points stand, in turn: points may lie close to each other."""


def _spot(spot: Spot, number: int) -> Iterable[str]:
    """A point with its number in the table."""
    x, y = _across(spot.saved), _down(spot.below)
    colour = LOOKS[0 if spot.matters else 1].colour
    yield f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>'
    across, down, anchor = SIDES[(number - 1) % len(SIDES)]
    yield _text(x + across, y + down, str(number), anchor)


def _across(saved: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * saved / 0.7, 1)


def _down(below: float) -> float:
    place = (log10(max(below, 0.00001)) + 5) / 3.3
    return round(BOTTOM - (BOTTOM - TOP) * min(place, 1), 1)


def _drawn(title: str, lines: Iterable[str], height: int) -> str:
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
                f' width="{WIDTH * 7 // 6}" font-family="system-ui, sans-serif" font-size="{FONT}"'
                f' fill="{GREY}">'
            ),
            f"<title>{escape(title)}</title>",
            *lines,
            "</svg>\n",
        ]
    )


def _axes(longest: int) -> Iterable[str]:
    yield _text(4, 18, "Ready pods")
    for percent in (0, 50, 100):
        y = _y(percent / 100)
        yield f'<path d="M{LEFT} {y}H{RIGHT}" stroke="{GREY}" stroke-opacity="0.35"/>'
        yield _text(LEFT - 6, y + 6, f"{percent} %", "end")
    for second in range(0, longest + 1, TICK):
        yield _text(_x(second, longest), BOTTOM + 21, f"{second}", "middle")
    yield _text((LEFT + RIGHT) / 2, BOTTOM + 43, "seconds after the notice", "middle")
    if longest >= LEAD:
        x = _x(LEAD, longest)
        yield f'<path d="M{x} {TOP}V{BOTTOM}" stroke="{GREY}" stroke-opacity="0.6"/>'
        yield _text(x, 18, "nodes end", "end")


def _curve(curve: Curve, look: Look, longest: int) -> str:
    points = " ".join(
        f"{_x(STEP * number, longest)},{_y(ready / curve.pods)}"
        for number, ready in enumerate(curve.ready)
    )
    return f'<polyline points="{points}" fill="none" {_stroke(look)}/>'


def _legend(drawn: Sequence[tuple[Curve, Look]]) -> Iterable[str]:
    x = 10.0
    for curve, look in drawn:
        yield f'<path d="M{x:g} {LEGEND - 6}h26" {_stroke(look)}/>'
        yield _text(x + 33, LEGEND, curve.name)
        x += 48 + len(curve.name) * LETTER


def _stroke(look: Look) -> str:
    return f'stroke="{look.colour}" stroke-width="{look.width:g}" stroke-dasharray="{look.dashes}"'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _x(second: float, longest: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * second / longest, 1)


def _y(share: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * share, 1)
