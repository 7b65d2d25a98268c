"""Shows how small stories go through the layer, and writes docs/design.md's table of walks.

.venv/bin/python -m tests.trace [--write]
"""

import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from tests.trace import restoring, story
from tests.trace.walk import Walk

DESIGN: Final = Path(__file__).resolve().parents[2] / "docs" / "design.md"
BLOCK: Final = re.compile(r"(?<=<!-- walks -->\n).*?(?=<!-- /walks -->)", re.DOTALL)


COUNTS: Final = ("calls", "switches", "returns", "modules", "plans", "reads")


def walks() -> Sequence[Walk]:
    """Tell all stories, and cut out their walks."""
    return [*story.walks(), *restoring.walks()]


def _counts(walk: Walk) -> Sequence[int]:
    """A walk's counts, as ``COUNTS`` names them."""
    calls, modules = len(walk.calls), len(walk.modules)
    return calls, walk.switches, walk.returns, modules, walk.plans, walk.reads


def shown(told: Sequence[Walk]) -> str:
    """The walks as Markdown: what each costs, and the modules that it visits first, in order."""
    rows = [f"| walk | {' | '.join(COUNTS)} |", "|---" * (len(COUNTS) + 1) + "|"]
    visits = []
    for walk in told:
        rows.append(f"| {' | '.join([walk.about, *map(str, _counts(walk))])} |")
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
        counts = (f"{count} {what}" for count, what in zip(_counts(walk), COUNTS, strict=True))
        lines.append(f"{walk.about}: {', '.join(counts)}")
        for module, group in groupby(walk.calls, lambda call: call.module):
            functions = ", ".join(dict.fromkeys(call.function for call in group))
            lines.append(f"  {module}: {functions}")
        lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Tell the stories, and print or write what they visit."""
    told = walks()
    if "--write" in arguments:
        DESIGN.write_text(BLOCK.sub(lambda _: shown(told), DESIGN.read_text()))
    else:
        sys.stdout.write(listing(told))


if __name__ == "__main__":
    main(sys.argv[1:])
