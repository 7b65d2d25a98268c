"""``python -m bench.evenness``: run it, print what is seen, keep the results and their table."""

import sys

from bench import store
from bench.evenness.run import run
from bench.report import evenness as report
from bench.say import since_now
from bench.storm.scenario import SCENARIOS


def main() -> int:
    """Exit code 1 if it is not as wanted."""
    found = run(SCENARIOS["D"], since_now())
    return store.keep("evenness", found, report.table(found), found.missed)


if __name__ == "__main__":
    sys.exit(main())
