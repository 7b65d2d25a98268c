"""Where figures are kept."""

from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "bench" / "results"


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
