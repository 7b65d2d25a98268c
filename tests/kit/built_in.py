"""The built-in cluster, which takes half a second to come up: once for all who only read it."""

from functools import cache
from types import SimpleNamespace

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_sandbox.built_in import cluster, unbalanced, workloads
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster


def keep(patch: pytest.MonkeyPatch) -> None:
    """Let commands that read the built-in cluster share what it was when the first one asked."""
    once = SimpleNamespace(
        build=lambda _clock: GuardedCluster(_kept(workloads.MANAGED), Guard(writes=False))
    )
    patch.setattr("evenkeel_cli.reading.built_in_cluster", once)
    off = SimpleNamespace(build=lambda _clock: _kept_off(workloads.MANAGED))
    patch.setattr("evenkeel_cli.commands.restore.unbalanced", off)


@cache
def _kept(_managed: frozenset[str]) -> SimulatedCluster:
    """The cluster in which these namespaces are managed: tests choose others."""
    return cluster.build(SimulatedClock(SystemClock().now()))


@cache
def _kept_off(_managed: frozenset[str]) -> SimulatedCluster:
    """The same out of balance."""
    return unbalanced.build(SimulatedClock(SystemClock().now()))
