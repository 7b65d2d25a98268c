"""What ``evenkeel explain`` says of a node, a pod or a workload."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.drain import returning
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.way import Way
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.explain import steps
from evenkeel_cli.explain.drainers import Drainer
from evenkeel_cli.explain.steps import Course
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Listing, ObjectItem, Output
from evenkeel_cli.ways import Situation

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
            "The node is noted; it is tainted, so that nothing new lands on it, while no more than"
            " 10 % of the spot nodes are drained for recommendations."
        ),
        "After 15 min mark and taint are lifted, if no warning came meanwhile.",
    ),
}


class NodeCourse(Item, frozen=True, kw_only=True):
    """What happens to a node itself, step by step."""

    on_interruption_warning: Sequence[str]
    on_rebalance_recommendation: Sequence[str]


class PodsOfNode(ObjectItem, frozen=True, kw_only=True):
    """The pods of one workload on a node, and which way they go on a warning and on a hint."""

    pods: int
    on_warning: Way
    on_hint: Way
    why: str


PODS: Final[Columns[PodsOfNode]] = (
    NAMESPACE,
    WORKLOAD,
    Column("PODS", lambda each: each.pods),
    Column("ON-WARNING", lambda each: words.WAYS[each.on_warning]),
    Column("ON-HINT", lambda each: words.WAYS[each.on_hint]),
    Column("WHY", lambda each: each.why, yields=1),
)


class Explanation(ObjectItem, frozen=True, kw_only=True):
    """What is known of a node, a pod or a workload, and what a notice would do to its pods.

    ``node`` and ``workloads`` are there if it is a node. ``otherDrainers`` drain its nodes, too.
    """

    facts: Sequence[str]
    on_interruption_warning: Sequence[Course]
    on_rebalance_recommendation: Sequence[Course]
    node: NodeCourse | None
    workloads: Sequence[PodsOfNode]
    other_drainers: Sequence[Drainer]

    def show(self, output: Output) -> None:
        """Print it for a person."""
        output.say(words.subject_name(self.subject), "bold")
        _items(output, "-", self.facts)
        for title, courses, of_node in (
            (WARNING, self.on_interruption_warning, NODE_STEPS[WARNING]),
            (HINT, self.on_rebalance_recommendation, NODE_STEPS[HINT]),
        ):
            output.say()
            if self.node is not None:
                output.say(f"{title}:", "bold")
                _numbered(output, of_node)
            else:
                _show_courses(output, title, courses)
        if self.node is not None:
            output.say()
            output.table(PODS, self.workloads)
        output.say()
        title = "Other drainers:" if self.other_drainers else "Other drainers: none seen."
        output.say(title, "bold")
        _items(output, "-", (f"{d.name} ({d.seen}): {d.terms}." for d in self.other_drainers))


class ExplanationList(Listing, frozen=True, kw_only=True):
    """What a notice would do to one object: what ``evenkeel explain`` prints."""

    items: Sequence[Explanation]


def explanation(
    subject: KubernetesObject,
    facts: Sequence[str],
    situations: Sequence[Situation],
    others: Sequence[Drainer],
) -> Explanation:
    """What is said of a subject whose pods are in these situations."""
    is_node = isinstance(subject, Node)
    course = NodeCourse(
        on_interruption_warning=NODE_STEPS[WARNING], on_rebalance_recommendation=NODE_STEPS[HINT]
    )
    return Explanation(
        subject=subject.reference,
        facts=facts,
        on_interruption_warning=_counted(map(steps.under_warning, situations)),
        on_rebalance_recommendation=_counted(map(steps.under_hint, situations)),
        node=course if is_node else None,
        workloads=_by_workload(situations) if is_node else (),
        other_drainers=others,
    )


def _counted(courses: Iterable[Course]) -> Sequence[Course]:
    """Each course once, with how many pods take it; the most frequent first."""
    counts = Counter(courses).most_common()
    return [msgspec.structs.replace(course, pods=count) for course, count in counts]


def _by_workload(situations: Sequence[Situation]) -> Sequence[PodsOfNode]:
    counts = Counter(
        (s.workload, s.way_for(returning.WARNING), s.way_for(returning.RECOMMENDATION))
        for s in situations
    )
    found = [
        PodsOfNode(
            subject=workload,
            pods=count,
            on_warning=warning.way,
            on_hint=hint.way,
            why=warning.message,
        )
        for (workload, warning, hint), count in counts.items()
    ]
    return sorted(found, key=lambda each: words.workload_name(each.subject))


def _show_courses(output: Output, title: str, courses: Sequence[Course]) -> None:
    for course in courses:
        count = course.pods
        pods = f" ({words.counted(count, 'pod')})" if len(courses) > 1 or count > 1 else ""
        output.say(f"{title}: {words.WAYS[course.way]}{pods}", "bold")
        _numbered(output, course.steps)
        _items(output, "*", (f"would change it: {change}" for change in course.changes))
    if not courses:
        output.say(f"{title}: it has no pods now", "bold")


def _numbered(output: Output, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, start=1):
        _items(output, f"{number}.", [text])


def _items(output: Output, mark: str, texts: Iterable[str]) -> None:
    """Texts behind their mark, each wrapped below itself."""
    for text in texts:
        output.say(f"{mark:>4} {text}", hang=5)
