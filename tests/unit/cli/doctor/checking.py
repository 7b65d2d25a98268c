"""What the tests of checks share: facts as they are given, and what is found of them."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.aws.facts import AwsFacts
from evenkeel_cli.doctor.check import Finding, Verdict
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Known
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.clocks import NOW

BROKEN, UNKNOWN, NOT_LOOKED, FINE = Verdict
NOBODY = cast("Any", None)
"""There is nobody to ask: a check has to do with the facts that are given."""

type Given = Mapping[Any, Any]
"""What is known, by the name of the fact, and what it is about."""


def in_aws(stack: Stack, given: Given) -> AwsFacts:
    facts = AwsFacts(NOBODY, stack, NOBODY, SimulatedClock(NOW))
    facts.kept |= _keyed(given)
    return facts


def in_cluster(given: Given, known: Known = Known()) -> ClusterFacts:  # noqa: B008 - it is frozen
    facts = ClusterFacts(NOBODY, NOBODY, SimulatedClock(NOW), WELL_KNOWN, known)
    facts.kept |= _keyed(given)
    return facts


def _keyed(given: Given) -> dict[tuple[Any, ...], Any]:
    return {(key,) if isinstance(key, str) else key: value for key, value in given.items()}


def check(found: Finding | Iterable[Finding], verdict: Verdict, *said: str) -> None:
    """One finding, with its reason; and what is to be done, if the check itself says that."""
    (finding,) = (found,) if isinstance(found, Finding) else found
    assert finding.verdict is verdict, finding
    for text in said:
        assert text in f"{finding.reason} -> {finding.remedy}"
    assert finding.reason
