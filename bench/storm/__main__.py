"""``python -m bench.storm A``: run scenarios, print what is seen, keep the results."""

import sys
import time
from pathlib import Path

import msgspec

from bench.storm.run import run
from bench.storm.scenario import SCENARIOS
from bench.storm.worker import meter_of

RESULTS = Path(__file__).resolve().parents[1] / "results"
BESIDE = ("A", "D")
"""The scenarios in which other ways are measured too."""


def main(arguments: list[str]) -> int:
    """``[ROUNDS] SCENARIO...``; exit code 2 for an unknown scenario."""
    rounds = int(arguments[0]) if arguments and arguments[0].isdecimal() else 1
    names = arguments[1:] if arguments and arguments[0].isdecimal() else arguments
    if unknown := [name for name in names if name not in SCENARIOS]:
        print(f"error: no scenario {unknown[0]}: name some of {', '.join(SCENARIOS)}")
        return 2
    RESULTS.mkdir(exist_ok=True)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    for name in names or SCENARIOS:
        log = RESULTS / f"storm-{name}.log"
        for file in (log, meter_of(log)):
            file.unlink(missing_ok=True)
        result = run(SCENARIOS[name], rounds, say, log, beside=name in BESIDE)
        path = RESULTS / f"storm-{name}.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
