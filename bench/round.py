"""``python -m bench.round CASE SIZE TREE FILE``: one round, whose figures go into FILE."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import evenkeel
from bench.cases import load
from bench.lab.lab import Lab


def main(arguments: Sequence[str]) -> None:
    """Measure the product of TREE, which is to be what Python imports."""
    case, size, tree, file = arguments
    found = Path(str(evenkeel.__file__))
    assert found.is_relative_to(tree), f"evenkeel is {found}, not that of {tree}"
    lab = Lab(name=f"{case}-{size}", tree=Path(tree))
    lab.say(f"{case} {size}")
    Path(file).write_bytes(msgspec.json.encode(load(case).measure(lab, size)))


if __name__ == "__main__":
    main(sys.argv[1:])
