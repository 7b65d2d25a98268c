"""``python -m bench.report``: write the tables, their copies in the pages, and the picture."""

import sys

from bench import store
from bench.report.pages import PAGES, PICTURE, blocks, drawn, paste, tables


def main() -> int:
    """Write all of them; what was not measured yet is left as it is."""
    for name, table in tables().items():
        store.write_table(name, table)
    found = blocks()
    for page in PAGES:
        page.write_text(paste(page.read_text(), found))
    if (picture := drawn()) is not None:
        PICTURE.write_text(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
