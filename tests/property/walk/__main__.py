"""Walks worlds of three pods, or of as many as are asked for, and prints how far it came.

    .venv/bin/python -m tests.property.walk [PODS [MOST]]

``MOST`` states of each are visited at most, the nearest first; 0: all of them. Exits with 1 at a
fault.
"""

import sys

from tests.property.walk.search import Walk, Walked
from tests.property.walk.world import Troubles, World

TELL_EVERY = 10_000
MOST = 100_000
WORLDS = {
    "one crash": Troubles(crashes=1),
    "one crash and one failure": Troubles(crashes=1, failures=1),
}


def main(pods: int = 3, most: int = MOST) -> int:
    """Walk one world after the other, and tell of it on the way. Answers the exit code."""
    for name, troubles in WORLDS.items():
        walked = Walk(World(pods, troubles, is_coarse=True)).go(_Watch(most))
        _tell(f"{pods} pods, {name}: {walked}")
        if walked.fault:
            return 1
    return 0


class _Watch:
    """Tells now and then how far a walk has come, and ends it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._told = 0

    def __call__(self, walked: Walked) -> bool:
        if walked.states - self._told >= TELL_EVERY:
            self._told = walked.states
            _tell(f"{walked.states} states, {walked.depth} steps deep")
        return not self._most or walked.states < self._most


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
