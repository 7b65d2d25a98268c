"""``python -m bench.storm A``: run scenarios, print what is seen, keep the results."""

import sys

from bench import store
from bench.say import since_now
from bench.storm.run import run
from bench.storm.scenario import SCENARIOS

BESIDE = ("A", "D")
"""The scenarios in which other ways are measured too."""


def main(arguments: list[str]) -> int:
    """``[ROUNDS] SCENARIO...``; exit code 2 for an unknown scenario."""
    rounds = int(arguments[0]) if arguments and arguments[0].isdecimal() else 1
    names = arguments[1:] if arguments and arguments[0].isdecimal() else arguments
    if unknown := [name for name in names if name not in SCENARIOS]:
        print(f"error: no scenario {unknown[0]}: name some of {', '.join(SCENARIOS)}")
        return 2
    say = since_now()
    for name in names or SCENARIOS:
        log = store.new_log(f"storm-{name}")
        result = run(SCENARIOS[name], rounds, say, log, beside=name in BESIDE)
        store.write(f"storm-{name}", result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
