"""Shows how a small story goes through the layer, and writes docs/design.md's table of walks.

.venv/bin/python -m tests.trace [--write]
"""

import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from tests.trace.story import Walk, walks

DESIGN: Final = Path(__file__).resolve().parents[2] / "docs" / "design.md"
BLOCK: Final = re.compile(r"(?<=<!-- walks -->\n).*?(?=<!-- /walks -->)", re.DOTALL)


def shown(told: Sequence[Walk]) -> str:
    """The walks as Markdown: what each costs, and the modules that it visits first, in order."""
    rows = ["| walk | calls | switches | modules | plans | reads |", "|---|---|---|---|---|---|"]
    visits = []
    for walk in told:
        counts = (len(walk.calls), walk.switches, len(walk.modules), walk.plans, walk.reads)
        rows.append(f"| {' | '.join([walk.about, *map(str, counts)])} |")
        visits.append(f"- {walk.about}: {_visited(walk.modules)}")
    return "\n".join([*rows, "", *visits, ""])


def _visited(modules: Sequence[str]) -> str:
    """Modules one after the other; those of one folder in a row name it once."""
    parts = []
    for folder, group in groupby(modules, lambda module: module.rpartition("/")[0]):
        names = ", ".join(module.rpartition("/")[2] for module in group)
        parts.append(f"`{folder}` {names}")
    return " → ".join(parts)


def listing(told: Sequence[Walk]) -> str:
    """The walks for a terminal: each call on a line, and the counts above."""
    lines = []
    for walk in told:
        counts = (
            f"{walk.about}: {len(walk.calls)} calls, {walk.switches} switches,"
            f" {len(walk.modules)} modules, {walk.plans} plans, {walk.reads} reads"
        )
        lines.append(counts)
        for module, group in groupby(walk.calls, lambda call: call.module):
            functions = ", ".join(dict.fromkeys(call.function for call in group))
            lines.append(f"  {module}: {functions}")
        lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Tell the story, and print or write what it visits."""
    told = walks()
    if "--write" in arguments:
        DESIGN.write_text(BLOCK.sub(lambda _: shown(told), DESIGN.read_text()))
    else:
        sys.stdout.write(listing(told))


if __name__ == "__main__":
    main(sys.argv[1:])
