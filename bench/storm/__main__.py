"""``python -m bench.storm A``: run scenarios, print what is seen, keep the results."""

import sys
import time
from pathlib import Path

import msgspec

from bench.storm.run import run
from bench.storm.scenario import SCENARIOS

RESULTS = Path(__file__).resolve().parents[1] / "results"
ROUNDS = {"A": 3}


def main(names: list[str]) -> int:
    """Exit code 2 for an unknown scenario."""
    if unknown := [name for name in names if name not in SCENARIOS]:
        print(f"error: no scenario {unknown[0]}: name some of {', '.join(SCENARIOS)}")  # noqa: T201
        return 2
    RESULTS.mkdir(exist_ok=True)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)  # noqa: T201

    for name in names or SCENARIOS:
        log = RESULTS / f"storm-{name}.log"
        log.unlink(missing_ok=True)
        result = run(SCENARIOS[name], ROUNDS.get(name, 1), say, log)
        path = RESULTS / f"storm-{name}.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
