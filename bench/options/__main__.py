"""``python -m bench.options``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.options.options import OPTIONS
from bench.options.results import Compared
from bench.options.run import cluster, run
from bench.options.site import ON_DEMAND, SPOT
from bench.report import options as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[OPTION...]``: some of them, or all. What was measured of the others before is kept."""
    parser = argparse.ArgumentParser(prog="bench.options")
    names = [each.name for each in OPTIONS]
    parser.add_argument("options", nargs="*", metavar="OPTION", help=", ".join(names))
    chosen = parser.parse_args(arguments).options or names
    before = store.read("options", Compared)
    rows = {row.option: row for row in before.rows} if before is not None else {}
    say, status = since_now(), 0
    with cluster() as control_plane:
        for option in OPTIONS:
            if option.name in chosen:
                rows[option.name] = run(control_plane, option, say)
                found = [rows[name] for name in names if name in rows]
                compared = Compared(spot=SPOT, on_demand=ON_DEMAND, rows=found)
                status |= store.keep("options", compared, report.table(compared), compared.missed)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
