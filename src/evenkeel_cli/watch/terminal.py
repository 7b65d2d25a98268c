"""The screen on a terminal: as many lines as fit, the worst of each part first."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from rich.text import Text

from evenkeel_cli import columns, words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.history.listing import OK_STYLES
from evenkeel_cli.lines import STYLES, WARNING
from evenkeel_cli.screen.views import Course, Point, PoolView, Said, Screen, WorkloadView
from evenkeel_cli.visible import visible

LABEL: Final = 16
"""Cells of the names of the time line's rows, and of what stands behind them."""

BARS: Final = " ▁▂▃▄▅▆▇█"
FULL: Final = len(BARS) - 1

MOVED: Final = "cyan"
RESTORED: Final = "magenta"
"""The colours of Evenkeel's own moves: for a notice, and of restore."""

ROWS_FOR_A_BAR: Final = 16
"""A terminal with so many more rows has bars that are one row higher."""

ROOMY: Final = 32
"""A terminal with so many rows has an empty one between parts."""

FACTS: Final = 2
"""So many lines of facts at most."""

_STYLES: Final = {str(verb): style for verb, style in STYLES.items()}


def _style(view: WorkloadView) -> str:
    return "bold red" if view.is_zero else "yellow" if view.is_low else ""


POOLS: Final[Columns[PoolView]] = (
    Column("POOL", lambda each: each.name),
    Column("NODES", lambda each: each.nodes),
    Column("GOING", lambda each: each.going or ""),
    Column("PODS", lambda each: each.left or ""),
    Column("LEFT TO EACH (ITS PODS)", lambda each: "  ".join(each.ends)),
)

WORKLOADS: Final[Columns[WorkloadView]] = (
    Column("WORKLOAD", lambda each: words.workload_name(each.subject)),
    Column("OK", lambda each: each.ok, style=lambda each: OK_STYLES.get(each.ok, "")),
    Column("READY", lambda each: each.ready, style=_style),
    Column("WANTED", lambda each: each.wanted),
    Column("LOWEST", lambda each: each.lowest),
    Column("PLAIN", lambda each: each.plain),
    Column("LATE", lambda each: each.late or "", yields=1),
)


def lines(screen: Screen, width: int, height: int) -> Sequence[Text]:
    """At most ``height`` lines of ``width`` cells."""
    top = [
        _at_both_ends(screen.source, f"{screen.at:%H:%M:%S} UTC", width),
        *_wrapped(screen.headline, width, "bold"),
        *_facts(screen, width)[:FACTS],
    ]
    course = list(_course(screen, width, max(1, height // ROWS_FOR_A_BAR)))
    room = height - len(top) - len(course)
    pools = _pools(screen.pools, width)
    concerned = [each for each in screen.workloads if each.ok is not None or each.is_low]
    workloads = _table(WORKLOADS, concerned, width)
    rows = [[row, *_why(each, width)] for row, each in zip(workloads[1:], concerned, strict=True)]
    said = [_said(each) for each in screen.decisions]
    of_pools = _fitting([[each] for each in pools], max(3, room // 4))
    of_workloads = _fitting([workloads[:1], *rows] if rows else [], max(4, 2 * room // 3))
    parts = [top, of_pools, of_workloads, course]
    gap = [Text("")] if height >= ROOMY else []
    left = height - sum(map(len, parts)) - len(gap) * sum(map(bool, parts))
    shown = filter(None, [*parts, said[: max(0, left)]])
    lines = [line for part in shown for line in (*part, *gap)][:height]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _at_both_ends(left: str, right: str, width: int) -> Text:
    room = max(0, width - len(right) - 2)
    line = Text(visible(left), "dim")
    line.truncate(room, overflow="ellipsis", pad=True)
    return line.append(f"  {right}", "dim")


def _wrapped(text: str, width: int, style: str = "", hang: int = 0) -> Sequence[Text]:
    found = textwrap.wrap(
        visible(text), width, subsequent_indent=" " * hang, break_on_hyphens=False
    )
    return [Text(line, style) for line in found]


def _facts(screen: Screen, width: int) -> Sequence[Text]:
    """What else is to be known, one behind the other; what is bad first, and in colour."""
    facts = sorted(screen.facts, key=lambda each: not each.bad)
    whole = " · ".join(f"{each.name}: {each.text}" for each in facts)
    found = _wrapped(whole, width, "dim")
    if facts and facts[0].bad:
        found[0].stylize("yellow")
    return found


def _table[T](shown: Columns[T], things: Sequence[T], width: int) -> Sequence[Text]:
    if not things:
        return []
    titles, *rows = columns.lines(shown, things, width)
    titles.stylize("bold")
    return [titles, *rows]


def _pools(pools: Sequence[PoolView], width: int) -> Sequence[Text]:
    """The pools of which nodes go, and the others in one line; where none goes, all."""
    going = [each for each in pools if each.ends]
    if not going:
        return _table(POOLS[:2], pools, width)
    others = [each for each in pools if not each.ends]
    nodes = words.counted(sum(each.nodes for each in others), "node")
    more = [Text(f"and {nodes} in {words.counted(len(others), 'other pool')}", "dim")]
    return [*_table(POOLS, going, width), *(more if others else ())]


def _why(view: WorkloadView, width: int) -> Sequence[Text]:
    told = " → ".join(filter(None, (view.why, view.change)))
    if not told:
        return []
    found = _wrapped(told, width - 2, "dim")
    lines = [*found[:1], Text(" ".join(each.plain for each in found[1:]), "dim")][: len(found)]
    for line in lines:
        line.pad_left(2)
    return lines


def _fitting(rows: Sequence[Sequence[Text]], room: int) -> Sequence[Text]:
    """The first rows that fit, each whole, and how many more there are."""
    found = list[Text]()
    for number, row in enumerate(rows):
        is_last = number + 1 == len(rows)
        if len(found) + len(row) + (not is_last) > room:
            return [*found, Text(f"and {len(rows) - number} more", "dim")]
        found += row
    return found


def _course(screen: Screen, width: int, rows: int) -> Iterator[Text]:
    """How many pods are missing, beside a plain eviction, and below it how many Evenkeel moved."""
    course, begins = screen.course, screen.begins
    if course is None or begins is None or not course.points:
        return
    cells = max(10, width - 2 * LABEL)
    missing = _missing(course.points, course.now, course, cells)
    plain = _missing(course.plain, course.lasts, course, cells)
    most = max(1, *missing, *plain)
    yield from _bars("missing", missing, most, rows, f"most {max(missing)}", "yellow")
    if course.plain:
        yield from _bars("plain eviction", plain, most, rows, f"most {max(plain)}", "red")
    moves = [Counter[bool]() for _ in range(cells)]
    for each in course.moves:
        moves[_cell(each.at, course, cells)][each.restoring] += each.pods
    line = Text(f"{'pods moved':<{LABEL}}")
    highest = max(1, *(each.total() for each in moves))
    for own_moves in moves:
        line.append(
            BARS[_level(own_moves.total(), highest)], RESTORED if own_moves[True] else MOVED
        )
    yield line.append(f" {sum(each.total() for each in moves)}", MOVED)
    ends = begins + timedelta(seconds=course.lasts)
    yield Text(f"{'':<{LABEL}}{begins:%H:%M:%S}{f'{ends:%H:%M:%S}':>{cells - 8}}", "dim")


def _bars(
    name: str, numbers: Sequence[int], most: int, rows: int, behind: str, style: str
) -> Iterator[Text]:
    for row in reversed(range(rows)):
        line = Text(f"{name if row == 0 else '':<{LABEL}}")
        for number in numbers:
            level = _level(number, most, FULL * rows) - FULL * row
            line.append(BARS[max(0, min(FULL, level))], style)
        if row == 0:
            yield line.append(f" {behind}", "dim")
        elif line.plain.strip():
            yield line


def _level(number: int, most: int, full: int = FULL) -> int:
    """The height of a bar: that of 1 is seen, too."""
    return -(-number * full // most)


def _missing(points: Sequence[Point], until: float, course: Course, cells: int) -> Sequence[int]:
    """The most pods that are missing at a time, in each cell."""
    found = [0] * cells
    ends = [*(each.at for each in points[1:]), until]
    for point, end in zip(points, ends, strict=bool(points)):
        for cell in range(_cell(point.at, course, cells), _cell(end, course, cells) + 1):
            found[cell] = max(found[cell], point.wanted - point.serving)
    return found


def _cell(at: float, course: Course, cells: int) -> int:
    return min(cells - 1, max(0, int(at * cells / course.lasts)))


def _said(said: Said) -> Text:
    style = WARNING if said.warning else _STYLES.get(said.verb, "dim")
    at = f"{words.offset(timedelta(seconds=said.at)):>9}  "
    return Text.assemble((at, "dim"), (visible(said.text), style))
