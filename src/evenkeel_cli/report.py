"""The account at the end of a storm that was watched: its workloads, and how pods went."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.history import listing
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.listing import OK_STYLES, WorkloadHistory
from evenkeel_cli.history.pods import UNTROUBLED
from evenkeel_cli.history.workloads import Verdict, WorkloadAccount
from evenkeel_cli.moves import Move
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Output


class MoveReport(Item, frozen=True, kw_only=True):
    """How many pods went one way, for one reason."""

    move: Move
    pods: int
    why: str


WORKLOADS: Final[Columns[WorkloadHistory]] = (
    NAMESPACE,
    WORKLOAD,
    Column("OK", lambda each: each.ok, style=lambda each: OK_STYLES.get(each.ok, "")),
    Column("WANTED", lambda each: each.wanted, yields=1),
    Column("READY", lambda each: each.ready),
    Column("LOWEST", lambda each: each.lowest, style=lambda each: each.style),
    Column("PLAIN", lambda each: each.plain),
    Column("WHY", lambda each: each.why, wraps=True),
    Column("MOVES", lambda each: each.ways, wide=True),
)

MOVES: Final[Columns[MoveReport]] = (
    Column(
        "MOVE", lambda each: each.move, style=lambda e: "" if e.move in UNTROUBLED else "yellow"
    ),
    Column("PODS", lambda each: each.pods),
    Column("WHY", lambda each: each.why, wraps=True),
)


def show(output: Output, incident: Incident, namespace: str = "") -> None:
    """Print the two tables and the verdict. ``namespace``: the tables are about this one alone."""
    output.table(WORKLOADS, workloads(incident, namespace), namespace=namespace)
    output.say()
    output.table(MOVES, moves(incident, namespace))
    output.say()
    for sentence in listing.of_hasty(incident.nodes):
        output.say(sentence, hang=2)
    first, *rest = listing.verdict(incident)
    output.say(first, "red" if failures(incident) else "green", hang=2)
    for sentence in rest:
        output.say(sentence, hang=2)


def failures(incident: Incident) -> Sequence[WorkloadAccount]:
    """The workloads that had fewer pods than wanted, or none, for no reason that is named."""
    return [each for each in incident.workloads if each.verdict is Verdict.FAILED]


def workloads(incident: Incident, namespace: str = "") -> Sequence[WorkloadHistory]:
    """An item for each workload of which pods had to move."""
    return [
        listing.workload(each, incident.in_plain(each.subject))
        for each in incident.workloads
        if (each.is_concerned or any(pod.has_to_move for pod in each.pods))
        and namespace in ("", each.subject.namespace)
    ]


def moves(incident: Incident, namespace: str = "") -> Sequence[MoveReport]:
    """An item for every way that pods of doomed nodes went, and every reason for it."""
    pods = [
        pod
        for pod in incident.pods
        if (pod.has_to_move or pod.way is Move.LEFT) and namespace in ("", pod.subject.namespace)
    ]
    counts = Counter((pod.way, pod.reason) for pod in pods)
    whys = {(pod.way, pod.reason): pod.why for pod in reversed(pods)}
    found = [MoveReport(move=key[0], pods=n, why=whys[key]) for key, n in counts.items()]
    order = list(Move)
    return sorted(found, key=lambda each: (order.index(each.move), -each.pods))
