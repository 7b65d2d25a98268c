"""``python -m bench.report``: write the tables into bench/results/*.md, and their copies."""

import sys

from bench import store
from bench.report.pages import PAGES, paste, tables


def main() -> int:
    """Write both."""
    found = tables()
    for name, table in found.items():
        store.write_table(name, table)
    for page in PAGES:
        page.write_text(paste(page.read_text(), found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
