"""Where figures are kept."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "bench" / "results"


def read[T](name: str, kind: type[T]) -> T | None:
    """A bench's last figures; None if it has none yet."""
    file = RESULTS / f"{name}.json"
    return msgspec.json.decode(file.read_bytes(), type=kind) if file.exists() else None


def keep(name: str, figures: msgspec.Struct, table: str, missed: Sequence[str]) -> int:
    """Keep a bench's figures and their table, and print what is not as wanted.

    Answers an exit code: 1 if anything is not.
    """
    write(name, figures)
    write_table(name, table)
    for miss in missed:
        print(f"not as wanted: {miss}", file=sys.stderr)
    return 1 if missed else 0


def write(name: str, figures: msgspec.Struct) -> None:
    """Keep a bench's figures as JSON, for people to read as well."""
    RESULTS.mkdir(exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(figures), indent=1)
    (RESULTS / f"{name}.json").write_bytes(text + b"\n")


def write_table(name: str, table: str) -> None:
    """Keep a bench's table, for people."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(table)


def new_log(name: str) -> Path:
    """A log's path, where nothing is left of an earlier run."""
    RESULTS.mkdir(exist_ok=True)
    for old in RESULTS.glob(f"{name}.*log"):
        old.unlink()
    return RESULTS / f"{name}.log"
