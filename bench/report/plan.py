"""What restore's plan of a large cluster takes, as a table."""

from typing import Final

import msgspec

from bench.placement.planned import GROWTH, MEGABYTES, SECONDS, PlanGrowth, Planned
from bench.store import RESULTS

COLUMNS: Final = ("nodes", "pods", "workloads", "JSON", "read", "planned", "CPU", "memory at most")


def read() -> PlanGrowth:
    """The last run's figures. Raises FileNotFoundError."""
    return msgspec.json.decode((RESULTS / "plan.json").read_bytes(), type=PlanGrowth)


def table(growth: PlanGrowth) -> str:
    """Markdown: a tenth and the whole, and below them what they amount to."""
    wanted = (
        f"- A pod takes {growth.per_pod:.2f} x as much CPU in the whole as in the tenth. Wanted: at"
        f" most {SECONDS:g} s, {MEGABYTES:g} MB, and {GROWTH:g} x."
    )
    condition = (
        "- Pages of JSON from a server that makes them up in the same process, whose own time is"
        " not counted; decoded and planned as in a run that is about to move pods, each in a"
        f" process of its own. One run. {growth.machine}."
    )
    rows = [
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
        *(_row(each) for each in (growth.tenth, growth.whole)),
        "",
        wanted,
        condition,
    ]
    return "\n".join(rows) + "\n"


def _row(each: Planned) -> str:
    cells = (
        f"{each.nodes:,}",
        f"{each.pods:,}",
        f"{each.workloads:,}",
        f"{each.megabytes:,.0f} MB",
        f"{each.read:.1f} s",
        f"{each.plan:.1f} s",
        f"{each.cpu:.1f} s",
        f"{each.peak_mb:.0f} MB",
    )
    return f"| {' | '.join(cells)} |"
