"""The tables in README.md and docs, each between its markers, and the picture."""

from collections.abc import Mapping
from typing import Final

from bench import account, readme
from bench.book import ROOT, Book
from bench.cases import CASES, load
from bench.tables import UNMEASURED, table

PAGES: Final = (
    "README.md",
    "docs/measurements.md",
    "docs/compatibility.md",
    "docs/cost.md",
    "docs/placement.md",
)
ELSEWHERE: Final = ("drainers", "cost", "options")
"""Cases whose table is on a page of its subject; the others have sections in measurements.md."""


def write(book: Book) -> None:
    """Write all of them."""
    found = blocks(book)
    for name in PAGES:
        page = ROOT / name
        page.write_text(paste(page.read_text(), found))
    if (picture := readme.picture_of(book)) is not None:
        (ROOT / readme.PICTURE).write_text(picture)


def blocks(book: Book) -> Mapping[str, str]:
    """What stands between the pages' markers, by name."""
    found = {name: _table(book, name) for name in CASES}
    measured = [_section(name, found[name]) for name in CASES if name not in ELSEWHERE]
    return {
        **{name: found[name] or UNMEASURED for name in ELSEWHERE},
        "account": account.account(book),
        "reads": account.reads(book),
        "network": account.network(),
        "ceiling": account.ceiling(),
        "readme": readme.table(book),
        "picture": readme.shown(book),
        "measurements": "\n".join(measured),
    }


def paste(page: str, found: Mapping[str, str]) -> str:
    """A page with these blocks; one that it has no markers for is left out.

    ``<!-- cost -->`` begins the block of that name, ``<!-- /cost -->`` ends it.
    """
    for name, text in found.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        head, marked, rest = page.partition(begin)
        if marked:
            _, ended, tail = rest.partition(end)
            assert ended, f"the page has no {end.strip()} after {begin.strip()}"
            page = f"{head}{begin}{text}{end}{tail}"
    return page


def _table(book: Book, name: str) -> str:
    """A case's table, its sizes in their own order; empty if nothing of it is kept."""
    sizes = load(name).SIZES
    kept = sorted(book.of(name), key=lambda each: sizes.index(each.size))
    return table(kept) if kept else ""


def _section(name: str, found: str) -> str:
    case = load(name)
    title, _, what = case.__doc__.strip().partition(".\n\n")
    head = f"## {title}\n\n{what}\n\n`python -m bench {name}`\n"
    parts = (head, found or UNMEASURED, case.NOTES)
    return "\n".join(filter(None, parts))
