"""What a snapshot of a large cluster took, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.report.markdown import markdown
from bench.snapshot.results import MEGABYTES, SECONDS, Reading, Taken

COLUMNS: Final = ("", "time", "CPU", "memory at most")


def table(reading: Reading) -> str:
    """Markdown: a row for each command, and below them what was read and wanted."""
    notes = (
        (
            f"A file of {reading.pods:,} pods and {reading.megabytes:,.0f} MB, printed as kubectl"
            " prints it. Each row is a process of its own, its start included. One run."
            f" {reading.conditions}."
        ),
        f"Wanted: at most {SECONDS:g} s and {MEGABYTES:g} MB.",
    )
    return markdown(COLUMNS, map(_row, reading.taken), notes)


def _row(each: Taken) -> Sequence[str]:
    return each.command, f"{each.seconds:.1f} s", f"{each.cpu:.1f} s", f"{each.peak_mb:.0f} MB"
