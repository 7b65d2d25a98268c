"""README's one table, of what hardly depends on the machine, and its picture."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from bench.book import Book, Measurement
from bench.cases.drainers import WORKLOADS
from bench.figure import Figure
from bench.picture import Curve, picture
from bench.tables import UNMEASURED, below, markdown, written

PICTURE: Final = "docs/storm.svg"
"""Where it is in the repository, whose root README is in."""

DRAINS: Final = {
    "kubectl": f"`kubectl drain` of a node with {WORKLOADS} workloads, half behind a budget",
    "consolidation": "Karpenter consolidates such a node, no budgets",
    "drift": "Karpenter replaces such a node for drift, no budgets",
}
PODS: Final = 3_000
HALF: Final = 1_500
LATE: Final = "pods too late"
IDLE: Final = "a month in which nothing happens"
CURVES: Final = {"A": "Evenkeel", "A-drain": "kubectl drain", "A-deletion": "bare deletion"}

WORLDS: Final = "5000"
"""How many small random worlds README tells of."""

HALVES: Final = ("A50", "A50-deletion")
"""The storm in which it is seldom the machine that is too slow."""

SLOW: Final = (
    "the same where the controller manager, at its default of 20 requests a second, replaces"
    " {:.0f} % of the pods in time"
)

type Found = Mapping[tuple[str, str], Measurement]
type Row = Callable[[Found], Sequence[str]]


def table(book: Book) -> str:
    """Markdown: a row for each subject that was measured, and below them how.

    A row that misses a mark is shown as it is.
    """
    made = [(row, kept) for needs, row in _rows() if (kept := _kept(book, needs)) is not None]
    if not made:
        return UNMEASURED
    rows = [row(kept) for row, kept in made]
    used = [each for _, kept in made for each in kept.values()]
    head = ["", "without Evenkeel", "with Evenkeel"]
    rounds = " or ".join(map(str, sorted({len(each.rounds) for each in used})))
    how = f"{rounds} rounds: of workloads the worst, of times the median"
    bold = "bold is what is not as it is wanted"
    return f"{markdown(head, rows)}\n{below(f'{how}; {bold}', used)}"


def _kept(book: Book, needs: Iterable[tuple[str, str]]) -> Found | None:
    """These measurements; None while one lacks."""
    found = {each: book.find(*each) for each in needs}
    kept = {each: measured for each, measured in found.items() if measured is not None}
    return kept if len(kept) == len(found) else None


def shown(book: Book) -> str:
    """Markdown: the picture, and what it is of; empty where it was not measured."""
    if picture_of(book) is None:
        return ""
    return (
        f"![Share of Ready pods over time: Evenkeel, kubectl drain, bare deletion]({PICTURE})\n\n"
        "The picture is of the 100 nodes with 3,000 pods, once for each way to empty them. Of"
        " several rounds it is the worst. A curve ends with the last change of a pod.\n"
    )


def picture_of(book: Book) -> str | None:
    """Ready pods in storm A, of Evenkeel and of what it is compared with; None while one lacks."""
    curves = []
    for size, name in CURVES.items():
        if (measured := book.find("storm", size)) is None:
            return None
        ready = next(each.value for each in measured.figures() if each.name == "Ready pods")
        assert isinstance(ready, Sequence), "a curve"
        curves.append(Curve(name, [round(each) for each in ready], PODS))
    return picture(curves)


def _rows() -> Sequence[tuple[Sequence[tuple[str, str]], Row]]:
    """Each row with the cases and sizes that it is made of."""
    drains = [
        ([("drainers", way), ("drainers", f"{way}-gated")], _drain(way, title))
        for way, title in DRAINS.items()
    ]
    return [
        *drains,
        ([("storm", size) for size in HALVES], _half),
        ([("storm", size) for size in CURVES], _storm),
        ([("storm", "D")], _slow),
        ([("worlds", WORLDS)], _worlds),
        ([("webhook", "paced")], _creation),
        ([("cost", "us-east-1")], _cost),
    ]


def _drain(way: str, title: str) -> Row:
    def row(found: Found) -> Sequence[str]:
        without, gated = found["drainers", way], found["drainers", f"{way}-gated"]
        left = without.value("pods that stay")
        seconds = gated.value("node empty")
        return (
            title,
            _below(without, WORKLOADS) + (f", {written(left, '')} pods block it" if left else ""),
            f"{_below(gated, WORKLOADS)}, the node empty after {written(seconds, 's')}",
        )

    return row


def _half(found: Found) -> Sequence[str]:
    half = found["storm", "A50"]
    zero = _of(found["storm", "A50-deletion"].value("workloads at zero"), 50)
    return (
        f"50 spot nodes are interrupted at once, with {HALF:,} pods",
        f"bare deletion: {zero} at zero",
        f"{_below(half, 50)}, {_late(half, HALF)}",
    )


def _storm(found: Found) -> Sequence[str]:
    drain, deletion = (
        _of(found["storm", f"A-{way}"].value("workloads at zero"), 100)
        for way in ("drain", "deletion")
    )
    return (
        "100 spot nodes are interrupted at once, with 3,000 pods, all on 2 CPUs",
        f"bare deletion: {deletion} at zero; `kubectl drain`: {drain} at zero",
        f"{_below(found['storm', 'A'], 100)}, {_late(found['storm', 'A'])}",
    )


def _slow(found: Found) -> Sequence[str]:
    slow = found["storm", "D"]
    zero = _of(slow.value("workloads at zero"), 100)
    made, share = slow.value("replaced in time") or 0, slow.value("lowest ready share") or 0
    return (
        SLOW.format(made / 30),
        "",
        f"{zero} at zero, at least {100 * share:.0f} % Ready, {_late(slow)}",
    )


def _worlds(found: Found) -> Sequence[str]:
    worlds = found["worlds", WORLDS]
    better, alike, worse = (
        worlds.value(f"fare {each}") or 0 for each in ("better", "alike", "worse")
    )
    told = (
        f"worse than a plain drain, or than nothing, in: {written(worse, '') if worse else 'none'}"
    )
    return (
        f"{better + alike + worse:,.0f} small random worlds, each with one workload",
        "",
        f"{told if not worse else f'**{told}**'}; better in {written(better, '')}",
    )


def _creation(found: Found) -> Sequence[str]:
    webhook = found["webhook", "paced"]
    return (
        "a pod's creation, 20 of them a second; the webhook counts its workload's floor",
        *(written(webhook.value("a creation, median", of), "ms") for of in ("without", "with")),
    )


def _cost(found: Found) -> Sequence[str]:
    cost = found["cost", "us-east-1"]
    idle, storms, pods = (
        written(cost.value(name), "$")
        for name in (
            IDLE,
            "1,000 interruptions",
            "a million new pods",
        )
    )
    return (
        "cost on AWS, reckoned from these runs and a price list",
        "",
        f"{idle} in {IDLE}, {storms} for 1,000 interruptions, {pods} for a million new pods",
    )


def _below(measured: Measurement, workloads: int) -> str:
    return f"{_of(measured.value('workloads below wanted'), workloads)} below wanted"


def _late(measured: Measurement, pods: int = PODS) -> str:
    """How many pods went too late, bold if any is more than is wanted."""
    late = measured.value(LATE)
    is_met = all(each.mark is None or each.mark.is_met(late) for each in _figures(measured, LATE))
    told = f"{written(late, '') if late else 'none'} of {pods:,} pods too late"
    return told if is_met else f"**{told}**"


def _figures(measured: Measurement, name: str) -> Sequence[Figure]:
    return [each for each in measured.figures() if each.name == name]


def _of(some: float | None, workloads: int) -> str:
    return f"{round(some) if some else 'none'} of {workloads}"
