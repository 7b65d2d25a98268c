"""How much CPU the functions take for a pod in storms of several sizes, as a table."""

from typing import Final

from bench.growth.results import Functions
from bench.report.markdown import markdown

COLUMNS: Final = ("doomed nodes", "pods on them", "CPU inside the functions", "per pod")


def table(functions: Functions) -> str:
    """Markdown: a row per storm, and below it what the rows amount to."""
    rows = [
        (
            f"{each.doomed}",
            f"{each.pods:,}",
            f"{each.seconds:.1f} s",
            f"{each.per_pod:.2f} ms",
        )
        for each in functions.points
    ]
    growth = (
        f"A pod takes {functions.linear:.2f} x as much with the most nodes doomed as with the"
        f" fewest; wanted: at most {functions.wanted:g}."
    )
    condition = (
        "On simulated time, each workload in a namespace of its own, all spot nodes noticed at"
        " once. What the simulated cluster, SQS and EC2 take is not counted."
        f" {functions.conditions}."
    )
    return markdown(COLUMNS, rows, (growth, condition))
