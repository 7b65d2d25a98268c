"""The answer to ``evenkeel explain``: gathered from a cluster, shown to people or programs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table as Grid

from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel_cli import words
from evenkeel_cli.console import print_trimmed
from evenkeel_cli.explain import steps
from evenkeel_cli.explain.drainers import Drainer
from evenkeel_cli.explain.steps import Course
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.ways import Situation
from evenkeel_cli.ways_table import WORDS
from evenkeel_cli.wrapping import Wrapped

WARNING: Final = "On an interruption warning"
HINT: Final = "On a rebalance recommendation"

NODE_STEPS: Final = {
    WARNING: (
        f"The node is cordoned and marked ({names.DOOMED}); nothing new lands on it.",
        (
            "External load balancers stop sending to it when the last pod that is handed over"
            " has left, or 60 s before the end."
        ),
        (
            "120 s after the warning EC2 takes the instance. If it runs on all the same, mark"
            " and cordon are lifted a minute later."
        ),
    ),
    HINT: (
        (
            "The node is noted; it is cordoned while no more than 10 % of the spot nodes are"
            " cordoned for recommendations."
        ),
        "After 15 min mark and cordon are lifted, if no warning came meanwhile.",
    ),
}

PODS: Final = (
    Column(key="workload", title="WORKLOAD"),
    Column(key="pods", title="PODS", right=True),
    Column(key="warning", title="ON A WARNING"),
    Column(key="hint", title="ON A HINT"),
    Column(key="why", title="WHY", wraps=True),
)

type Courses = Sequence[tuple[Course, int]]
"""The courses of some pods, and how many take each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of the subject, how its pods would go, and who else drains its nodes."""

    subject: KubernetesObject
    facts: Sequence[str]
    situations: Sequence[Situation]
    others: Sequence[Drainer]

    @property
    def under_warning(self) -> Courses:
        """What an interruption warning would do to its pods."""
        return Counter(steps.under_warning(each) for each in self.situations).most_common()

    @property
    def under_hint(self) -> Courses:
        """What a rebalance recommendation would do to its pods."""
        return Counter(steps.under_hint(each) for each in self.situations).most_common()

    def show(self, console: Console) -> None:
        """Print it for a person."""
        console.print(words.subject_name(self.subject.reference), style="bold")
        for fact in self.facts:
            _item(console, "-", fact)
        for title, courses in ((WARNING, self.under_warning), (HINT, self.under_hint)):
            console.print()
            if isinstance(self.subject, Node):
                console.print(f"{title}:", style="bold")
                _numbered(console, NODE_STEPS[title])
            else:
                self._show_courses(console, title, courses)
        if isinstance(self.subject, Node):
            console.print()
            self.pod_table().show(console)
        console.print()
        console.print(
            "Other drainers:" if self.others else "Other drainers: none seen.", style="bold"
        )
        for other in self.others:
            _item(console, "-", f"{other.name} ({other.seen}): {other.terms}.")

    def pod_table(self) -> Table:
        """The pods of a node by workload, and how they would go."""
        rows = Counter(
            (words.workload_name(each.workload), each.way(hint=False), each.way(hint=True))
            for each in self.situations
        )
        return Table(
            PODS,
            [
                (
                    Cell(name),
                    Cell(str(count), value=count),
                    Cell(WORDS[warning.way]),
                    Cell(WORDS[hint.way]),
                    Cell(warning.message),
                )
                for (name, warning, hint), count in sorted(rows.items(), key=lambda r: r[0][0])
            ],
        )

    def data(self) -> dict[str, Any]:
        """The same for programs."""
        reference = self.subject.reference
        found: dict[str, Any] = {
            "kind": reference.kind,
            "namespace": reference.namespace,
            "name": reference.name,
            "facts": list(self.facts),
            "onInterruptionWarning": _data(self.under_warning),
            "onRebalanceRecommendation": _data(self.under_hint),
            "otherDrainers": [
                {"name": other.name, "seen": other.seen, "terms": other.terms}
                for other in self.others
            ],
        }
        if isinstance(self.subject, Node):
            found["node"] = {
                "onInterruptionWarning": list(NODE_STEPS[WARNING]),
                "onRebalanceRecommendation": list(NODE_STEPS[HINT]),
            }
            found["workloads"] = self.pod_table().data()
        return found

    @staticmethod
    def _show_courses(console: Console, title: str, courses: Courses) -> None:
        for course, count in courses:
            pods = f" ({words.counted(count, 'pod')})" if len(courses) > 1 or count > 1 else ""
            console.print(f"{title}: {WORDS[course.way]}{pods}", style="bold")
            _numbered(console, course.steps)
            for change in course.changes:
                _item(console, "*", f"would change it: {change}")
        if not courses:
            console.print(f"{title}: it has no pods now", style="bold")


def _numbered(console: Console, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, start=1):
        _item(console, f"{number}.", text)


def _item(console: Console, mark: str, text: str) -> None:
    """A text behind its mark, wrapped below itself."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=4, justify="right")
    grid.add_column()
    grid.add_row(mark, Wrapped(text))
    print_trimmed(console, grid)


def _data(courses: Courses) -> list[dict[str, Any]]:
    return [
        {
            "pods": count,
            "way": course.way.value,
            "reason": course.reason,
            "steps": list(course.steps),
            "changes": list(course.changes),
        }
        for course, count in courses
    ]
