"""What restore is going to move in namespaces that are about to take part, and by what."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot, Terms
from evenkeel.decisions.restore.step import RestorePlan, RestoreStep
from evenkeel.errors import ClusterError
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.ports import Clock, Cluster
from evenkeel_cli import words
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.program import NAME
from evenkeel_cli.restoring.listing import NOT_OURS

MOST_TOLD: Final = 10
"""So many workloads are named that move, and so many that stay."""

ALL: Final = 1_000_000
"""A run's budget that no plan uses up: what one run leaves, a later one moves."""


def told(
    cluster: Cluster, clock: Clock, choices: Choices, labels: CapacityLabels
) -> Iterator[Sequence[str]]:
    """Paragraphs, of which the first line says what the others list, a workload each.

    What the policy cannot tell, where it is chosen, of those that take part; and of the namespaces
    that join what is not where it is to be. ``labels`` tell what is spot.
    """
    by_policy = choices.webhook is Webhook.POLICY
    joins = bool(choices.namespaces) or choices.is_everywhere
    if not (joins or by_policy):
        return
    try:
        found = read(cluster, clock, Terms(moves=ALL), Scope(capacity_labels=labels))
    except ClusterError as error:
        yield [f"what restore will move cannot be seen ({error})"]
        return
    if by_policy:
        yield from _untold(found, choices)
    if joins:
        yield from _moves(found, choices)


def _untold(found: Snapshot, choices: Choices) -> Iterator[Sequence[str]]:
    """The workloads of which the policy does not see what their owners ask for."""
    lines = [
        f"{words.workload_name(each.workload.reference)}: {'; '.join(each.untold)}"
        for each in found.candidates
        if each.untold and (each.standing.is_managed or _joins(each, choices))
    ]
    if lines:
        yield ["The policy cannot tell what the webhook would", *_some(lines)]


def _moves(found: Snapshot, choices: Choices) -> Iterator[Sequence[str]]:
    joining = as_managed(found, choices)
    if not joining.candidates:
        return
    where = "all namespaces" if choices.is_everywhere else ", ".join(choices.namespaces)
    lines = list(_lines(joining, plan(joining)))
    yield [f"In {where} restore will move {'these pods' if lines else 'no pod'}", *lines]


def as_managed(found: Snapshot, choices: Choices) -> Snapshot:
    """The snapshot with the workloads that join alone, as they are once they have joined."""
    unplaced = f"no webhook is installed that places new pods (--webhook {Webhook.NONE})"
    candidates = [
        msgspec.structs.replace(
            each,
            standing=msgspec.structs.replace(each.standing, is_managed=True),
            by_policy=choices.webhook is Webhook.POLICY,
            unplaced=unplaced if choices.webhook is Webhook.NONE else "",
        )
        for each in found.candidates
        if not each.standing.is_managed and _joins(each, choices)
    ]
    return msgspec.structs.replace(found, candidates=candidates)


def _joins(candidate: Candidate, choices: Choices) -> bool:
    namespace = candidate.workload.namespace
    if choices.is_everywhere:
        return namespace not in names.CLUSTERS_OWN
    return namespace in choices.namespaces


def _lines(joining: Snapshot, made: RestorePlan) -> Iterator[str]:
    candidates = {each.workload.key: each for each in joining.candidates}
    moved = [_moved(candidates[step.workload], step) for step in made.steps if step.counts]
    left = [each for each in made.left if each.reason not in NOT_OURS]
    stay = [
        f"{words.workload_name(each.workload or each.subject)} stays: {each.message}"
        for each in left
    ]
    yield from _some(moved)
    yield from _some(stay)


def _some(lines: Sequence[str]) -> Iterator[str]:
    """The first lines, and how many there are besides."""
    yield from lines[:MOST_TOLD]
    if (more := len(lines) - MOST_TOLD) > 0:
        yield f"and {more} more workloads: {NAME} restore -A shows them once they have joined"


def _moved(candidate: Candidate, step: RestoreStep) -> str:
    """Where a workload's pods go: all of them, of which restore moves one at a time."""
    name, standing = words.workload_name(candidate.workload.reference), candidate.standing
    if step.rolls:
        return f"{name}: {step.decision.message}; its pods are rolled out"
    pods = standing.missing or standing.surplus
    if not pods:
        return f"{name}: a pod {step.decision.message}"
    target = Capacity.ON_DEMAND if standing.missing else Capacity.SPOT
    is_broken = isinstance(candidate.workload, StatefulSet)
    how = "evicted, and nothing runs in its place meanwhile" if is_broken else "handed over"
    return f"{name}: {words.counted(pods, 'pod')} from {target.other} to {target}, each {how}"
