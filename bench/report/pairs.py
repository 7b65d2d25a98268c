"""Two commits in the same storms, as a table."""

from collections.abc import Sequence

from bench.pairs.results import (
    COSTS,
    OUTCOMES,
    Deletion,
    Figure,
    Pairs,
    Run,
    Sittings,
    Values,
    kinds,
    median,
    quotient,
)
from bench.report.markdown import markdown


def table(sittings: Sittings) -> str:
    """Markdown: a table for each scenario."""
    return "\n".join(
        markdown(_columns(each), _rows(each), _notes(each)) for each in sittings.scenarios.values()
    )


def plain(pairs: Pairs) -> str:
    """The same for a terminal."""
    rows = [[cell.replace("*", "") for cell in row] for row in (_columns(pairs), *_rows(pairs))]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, *_notes(pairs)])


def _columns(pairs: Pairs) -> Sequence[str]:
    beside = ["bare deletion"] if any(pair.deletion for pair in pairs.pairs) else []
    return (
        f"storm {pairs.scenario}",
        f"this ({pairs.conditions.commit})",
        f"BASE ({pairs.base})",
        "ratio",
        *beside,
    )


def _rows(pairs: Pairs) -> Sequence[Sequence[str]]:
    deletions = [pair.deletion for pair in pairs.pairs if pair.deletion is not None]

    def beside(figure: Figure[Run | Deletion]) -> Sequence[str]:
        return [_cell(figure.form, [figure.of(each) for each in deletions])] if deletions else []

    nothing = ["-"] if deletions else []
    return [
        *([*_compared(figure, pairs), *beside(figure)] for figure in OUTCOMES),
        *([*_compared(figure, pairs), *nothing] for figure in (*COSTS, *kinds(pairs))),
    ]


def _compared(figure: Figure[Run], pairs: Pairs) -> Sequence[str]:
    this = [figure.of(each.this) for each in pairs.pairs]
    base = [figure.of(each.base) for each in pairs.pairs]
    ratio = quotient(this, base)
    return (
        figure.name,
        _cell(figure.form, this),
        _cell(figure.form, base),
        "-" if ratio is None else f"{ratio:.2f}",
    )


def _cell(form: str, values: Values) -> str:
    """The median, and each of them where there are several: ``70.1 s (68.0 s, 72.2 s, ...)``."""
    texts = ["never" if value is None else form.format(value) for value in values]
    if len(texts) == 1:
        return texts[0]
    middle = median(values)
    return f"{'never' if middle is None else form.format(middle)} ({', '.join(texts)})"


def _notes(pairs: Pairs) -> Sequence[str]:
    slow = sum(pair.slow for pair in pairs.pairs)
    told = f" ({slow} more given up: a cluster took too long to fill)" if slow else ""
    condition = (
        f"{pairs.scenario}: {pairs.title}. {pairs.nodes} of {pairs.nodes} spot nodes noticed,"
        f" {pairs.pods:,} pods, {pairs.condition}. Each storm in a cluster of its own, both"
        f" commits in turn, {len(pairs.pairs)} of each{told}: medians, and their ratio. Last: what"
        f" Evenkeel itself sent, by kind. {pairs.worker}. {pairs.conditions}."
    )
    if pairs.to_deletion is None:
        return [condition]
    return [f"{pairs.to_deletion:.2f} x the time of the bare deletion.", condition]
