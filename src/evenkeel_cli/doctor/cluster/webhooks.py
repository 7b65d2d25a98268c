"""Webhooks of others that the API server asks about evictions, and about deletions of pods."""

from collections.abc import Iterator, Sequence
from typing import Final

from evenkeel_cli.doctor.check import Finding, fine, unknown
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Configuration

MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"


def others(facts: ClusterFacts) -> Iterator[Finding]:
    """Which other webhooks are asked when a pod is evicted or deleted, each by its name."""
    found = [
        judge(kind, each.metadata.name, asked)
        for kind in (MUTATING, VALIDATING)
        for each in facts.configurations(kind)
        if (asked := asked_about(each))
    ]
    yield from found or [fine("no other one is asked when a pod is evicted or deleted")]


def asked_about(each: Configuration) -> Sequence[str]:
    """What its webhooks are asked about, of these two."""
    evictions = each.asks("CREATE", "pods/eviction", "pods/*", "*/eviction")
    deletions = each.asks("DELETE", "pods", "*")
    return ["evictions"] * evictions + ["deletions of pods"] * deletions


def judge(kind: str, name: str, asked: Sequence[str]) -> Finding:
    """A mutating webhook on evictions is asked before the gate, and may undo what that says."""
    said = f"{kind} {name} is asked about {' and '.join(asked)}"
    if kind == MUTATING and "evictions" in asked:
        return unknown(f"{said}, before the eviction gate")
    return fine(said)
