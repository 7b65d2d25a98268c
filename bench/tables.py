"""The one table writer: measurements as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Final

from bench.book import Measurement, Rounds, combined, values
from bench.figure import Figure, middle

UNMEASURED: Final = "No result is kept.\n"


def table(measurements: Sequence[Measurement]) -> str:
    """A case's measurements, and below them the condition: a column for each size and subject.

    Where there are more of those than figures, they are the rows. A value that is not as its mark
    wants it is bold.
    """
    columns = {
        heading(each.size, of, measurements): (each, of)
        for each in measurements
        for of in dict.fromkeys(figure.of for figure in each.rounds[0] if _is_shown(figure))
    }
    names = dict.fromkeys(
        figure.name for each in measurements for figure in each.rounds[0] if _is_shown(figure)
    )
    found = [[_cell(each, name, of) for each, of in columns.values()] for name in names]
    marks = [_mark(measurements, name) for name in names]
    if len(columns) > len(names):
        titles = [
            f"{name} ({mark})" if mark else name for name, mark in zip(names, marks, strict=True)
        ]
        rows = [
            [title, *cells] for title, cells in zip(columns, zip(*found, strict=True), strict=True)
        ]
        return _written(["", *titles], rows, measurements)
    has_marks = any(marks)
    rows = [
        [name, *cells, *([mark] if has_marks else [])]
        for name, cells, mark in zip(names, found, marks, strict=True)
    ]
    return _written(["", *columns, *(["wanted"] if has_marks else [])], rows, measurements)


def heading(size: str, of: str, measurements: Sequence[Measurement]) -> str:
    """What a column is called: its size, where there are several, and its subject."""
    several = len({each.size for each in measurements}) > 1
    return ", ".join(filter(None, (size if several or not of else "", of)))


def compared(measured: Measurement) -> str:
    """Both commits of a measurement, each figure's medians, and their quotient."""
    rows = []
    for each in measured.rounds[0]:
        if not isinstance(each.value, Sequence):
            this, base = (
                middle(values(each, rounds)) for rounds in (measured.rounds, measured.against)
            )
            ratio = "-" if this is None or not base else f"{this / base:.2f}"
            name = ", ".join(filter(None, (each.of, each.name)))
            rows.append([name, written(this, each.unit), written(base, each.unit), ratio])
    columns = [f"{measured.case} {measured.size}", "this", measured.base, "ratio"]
    return _written(columns, rows, [measured])


def written(value: float | Sequence[float] | None, unit: str) -> str:
    """A value and its unit, with as many digits as are worth reading."""
    if value is None:
        return "never"
    assert not isinstance(value, Sequence), "a curve has no cell"
    if unit == "$":
        return f"${value:,.{2 if abs(value) >= 0.01 else 4}f}"
    digits = 0 if float(value).is_integer() or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".strip()


def markdown(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of these cells."""
    head = list(columns)
    lines = [_line(head), "|---" * len(head) + "|", *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _written(
    columns: Iterable[str], rows: Iterable[Iterable[str]], measurements: Sequence[Measurement]
) -> str:
    counts = sorted({len(each.rounds) for each in measurements})
    runs = (
        "One round"
        if counts == [1]
        else f"{' or '.join(map(str, counts))} rounds: medians, of what has a mark the worst"
    )
    return f"{markdown(columns, rows)}\n{below(runs, measurements)}"


def below(how: str, measurements: Sequence[Measurement]) -> str:
    """What stands below a table: how it was made, and of which commit, on which day and machine.

    Where these differ there is a sentence for each, the newest day first, which says what is of it:
    the sizes, or of several cases what ``python -m bench`` is given to measure the same again.
    """
    sittings: dict[str, list[Measurement]] = {}
    for each in sorted(measurements, key=lambda one: one.conditions.date, reverse=True):
        sittings.setdefault(each.conditions.sitting, []).append(each)
    if len(sittings) == 1:
        (sitting,) = sittings
        return f"- {how}. C{sitting[1:]}, {_load(measurements)}.\n"
    is_one_case = len({each.case for each in measurements}) == 1
    told = [
        f" {_named(some, is_one_case=is_one_case)}: {sitting}, {_load(some)}."
        for sitting, some in sittings.items()
    ]
    return f"- {how}.{''.join(told)}\n"


def _named(some: Sequence[Measurement], *, is_one_case: bool) -> str:
    if is_one_case:
        return ", ".join(each.size for each in some)
    sizes: dict[str, list[str]] = {}
    for each in some:
        sizes.setdefault(each.case, []).append(each.size)
    return ", ".join(f"`{case} {' '.join(found)}`" for case, found in sizes.items())


def _load(some: Sequence[Measurement]) -> str:
    least, most = (f"{pick(each.conditions.load for each in some):.1f}" for pick in (min, max))
    return f"load {least}" if least == most else f"load {least} to {most}"


def _line(cells: Iterable[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def _is_shown(figure: Figure) -> bool:
    return figure.shown and not isinstance(figure.value, Sequence)


def _cell(measured: Measurement, name: str, of: str) -> str:
    for figure in measured.rounds[0]:
        if figure.key == (name, of) and _is_shown(figure):
            return _shown(figure, measured.rounds)
    return "-"


def _shown(figure: Figure, rounds: Rounds) -> str:
    value = combined(figure, rounds).value
    assert not isinstance(value, Sequence)
    text = written(value, figure.unit)
    each = [written(one, "") for one in values(figure, rounds)]
    if len(set(each)) > 1:
        text = f"{text} ({', '.join(each)})"
    is_met = figure.mark is None or figure.mark.is_met(value)
    return text if is_met else f"**{text}**"


def _mark(measurements: Sequence[Measurement], name: str) -> str:
    """A figure's mark, with the sizes that it holds for where it is not that of all."""
    found: dict[str, list[str]] = {}
    for each in measurements:
        for figure in each.rounds[0]:
            if figure.name == name and figure.mark is not None:
                where = found.setdefault(str(figure.mark), [])
                where.append(heading(each.size, figure.of, measurements))
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{mark} ({', '.join(where)})" for mark, where in found.items())


def missed(measured: Measurement) -> Sequence[str]:
    """What is not as wanted, in words."""
    return [
        f"{', '.join(filter(None, (each.of, each.name)))}: {written(each.value, each.unit)},"
        f" wanted {each.mark}"
        for each in measured.figures()
        if each.mark is not None
        and not isinstance(each.value, Sequence)
        and not each.mark.is_met(each.value)
    ]
