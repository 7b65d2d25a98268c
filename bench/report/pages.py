"""The copies of the tables in README.md and docs, each between its markers, and the picture."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from bench import store
from bench.cost.bill import Bill
from bench.drainers.results import Drains
from bench.evenness.results import Evenness
from bench.extender.results import Extending
from bench.faults.results import Faults
from bench.floors.results import Floors
from bench.gate.results import Gating
from bench.growth.results import Feeding, Functions, Growth
from bench.options.results import Compared
from bench.pairs.results import Sittings
from bench.placement.planned import PlanGrowth
from bench.placement.results import Placement
from bench.report import (
    cost,
    drainers,
    evenness,
    extender,
    faults,
    fed,
    floors,
    functions,
    gate,
    growth,
    options,
    pairs,
    placement,
    plan,
    readme,
    restoring,
    simulating,
    snapshot,
    storm,
)
from bench.report.picture import picture
from bench.report.sections import sections
from bench.restoring.results import Restored
from bench.simulating.results import Simulating
from bench.snapshot.results import Reading
from bench.store import ROOT

PAGES: Final = (
    ROOT / "README.md",
    ROOT / "docs" / "measurements.md",
    ROOT / "docs" / "compatibility.md",
    ROOT / "docs" / "cost.md",
    ROOT / "docs" / "placement.md",
)
"""Each table is in one of them: in docs/measurements.md those that have a section there."""

PICTURE: Final = ROOT / readme.PICTURE


REPORTS: Final[Mapping[str, tuple[type[Any], Callable[[Any], str]]]] = {
    "growth": (Growth, growth.table),
    "functions": (Functions, functions.table),
    "fed": (Feeding, fed.table),
    "evenness": (Evenness, evenness.table),
    "faults": (Faults, faults.table),
    "pairs": (Sittings, pairs.table),
    "extender": (Extending, extender.table),
    "gate": (Gating, gate.table),
    "placement": (Placement, placement.table),
    "plan": (PlanGrowth, plan.table),
    "snapshot": (Reading, snapshot.table),
    "restoring": (Restored, restoring.table),
    "simulating": (Simulating, simulating.table),
    "floors": (Floors, floors.table),
    "cost": (Bill, cost.table),
    "drainers": (Drains, drainers.table),
    "options": (Compared, options.table),
}
"""What each bench's figures are, and what makes their table. The storms are several figures."""


def tables() -> Mapping[str, str]:
    """The tables of what was measured, by name. What was not yet is not there."""
    found = {"storm": storm.table(results)} if (results := storm.read()) else {}
    for name, (kind, table) in REPORTS.items():
        if (figures := store.read(name, kind)) is not None:
            found[name] = table(figures)
    if (measured := readme.read()) is not None:
        found["readme"] = readme.table(measured)
    return found


def drawn() -> str | None:
    """The picture of storm A; None if its curves were not measured yet."""
    measured = readme.read()
    return picture(readme.curves(measured.storm)) if measured is not None else None


def blocks() -> Mapping[str, str]:
    """What stands between the pages' markers, by name: the tables, and where the picture is."""
    measured, found = readme.read(), tables()
    shown = {"picture": readme.shown(measured.storm)} if measured is not None else {}
    return {**found, **shown, "measurements": sections(found)}


def paste(page: str, found: Mapping[str, str]) -> str:
    """A page with these blocks; one that it has no markers for is left out.

    ``<!-- cost -->`` begins the block of that name, ``<!-- /cost -->`` ends it.
    """
    for name, table in found.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        head, marked, rest = page.partition(begin)
        if marked:
            _, ended, tail = rest.partition(end)
            assert ended, f"the page has no {end.strip()} after {begin.strip()}"
            page = f"{head}{begin}{table}{end}{tail}"
    return page
