"""The copies of the tables in README.md and docs, each between its markers."""

from collections.abc import Mapping
from typing import Final

from bench.report import faults, floors, growth, placement, plan, restoring, storm
from bench.store import RESULTS, ROOT

PAGES: Final = (ROOT / "README.md", ROOT / "docs" / "measurements.md")
"""Each table is in one of them."""


def tables() -> Mapping[str, str]:
    """The tables of what was measured, by name. What was not yet is not there."""
    found = {"storm": storm.table(results)} if (results := storm.read()) else {}
    if (RESULTS / "growth.json").exists():
        found["growth"] = growth.table(growth.read())
    if (RESULTS / "faults.json").exists():
        found["faults"] = faults.table(faults.read())
    if (RESULTS / "placement.json").exists():
        found["placement"] = placement.table(placement.read())
    if (RESULTS / "plan.json").exists():
        found["plan"] = plan.table(plan.read())
    if (RESULTS / "restoring.json").exists():
        found["restoring"] = restoring.table(restoring.read())
    if (RESULTS / "floors.json").exists():
        found["floors"] = floors.table(floors.read())
    return found


def paste(page: str, found: Mapping[str, str]) -> str:
    """A page with these tables; a table that it has no markers for is left out.

    ``<!-- storm -->`` begins the table of that name, ``<!-- /storm -->`` ends it.
    """
    for name, table in found.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        head, marked, rest = page.partition(begin)
        if marked:
            _, ended, tail = rest.partition(end)
            assert ended, f"the page has no {end.strip()} after {begin.strip()}"
            page = f"{head}{begin}{table}{end}{tail}"
    return page
