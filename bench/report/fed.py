"""What cache, plans and agenda take for a pod in sizes that no cluster has room for, as a table."""

from typing import Final

from bench.growth.results import Feeding
from bench.report.markdown import markdown

COLUMNS: Final = ("doomed nodes", "pods on them", "CPU", "per pod", "memory at most")


def table(feeding: Feeding) -> str:
    """Markdown: a row per size, and below it what the rows amount to."""
    rows = [
        (
            f"{each.doomed:,}",
            f"{each.pods:,}",
            f"{each.seconds:.1f} s",
            f"{each.per_pod:.2f} ms",
            f"{each.megabytes:.0f} MB",
        )
        for each in feeding.points
    ]
    growth = (
        f"A pod takes {feeding.linear:.2f} x as much with the most nodes doomed as with the"
        f" fewest; wanted: at most {feeding.wanted:g}, and {feeding.most_megabytes:g} MB."
    )
    condition = (
        "Cache, plans and agenda fed by hand: four changes for each pod within 80 s, planned"
        " for 5 times a second. The memory is the process's, with all changes in it."
        f" {feeding.conditions}."
    )
    return markdown(COLUMNS, rows, (growth, condition))
