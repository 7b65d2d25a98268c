"""``python -m bench.report``: write the tables into bench/results/*.md, and README's copies."""

import sys

from bench import store
from bench.report.readme import README, paste, tables


def main() -> int:
    """Write both."""
    found = tables()
    for name, table in found.items():
        store.write_table(name, table)
    README.write_text(paste(README.read_text(), found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
