"""What can be set about a simulated cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from evenkeel_sandbox.simulator.staleness import NONE, Staleness


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """How fast the parts of the cluster are, and what is left to chance.

    The API server: ``latency`` of a request, ``capacity`` of a session (requests at once),
    ``requests_per_second`` of the whole server (None: no limit), ``watch_latency`` until a
    change arrives, ``cache_lag`` of lists that need not be fresh, ``history`` (changes kept
    for watches that come back), ``staleness`` of what sessions see (how late it is besides).

    The controllers: ``controller_qps`` and ``controller_burst`` of each controller's client
    (kube-controller-manager's --kube-api-qps and --kube-api-burst; None: no limit).

    The pods: ``start_seconds``, ``ready_seconds`` and ``stop_seconds`` are ranges from which
    each draws (from being scheduled to Running, from there to Ready, from its deletion to
    its end; a pod's annotations overrule them, see simulator.kubelet; ``start_seconds_of`` are
    other ranges to Running for the pods of some controllers, by uid).

    Two runs with the same ``seed`` and the same requests are the same.
    """

    seed: int = 0
    latency: timedelta = timedelta(seconds=0.003)
    capacity: int = 64
    requests_per_second: float | None = None
    watch_latency: timedelta = timedelta(seconds=0.002)
    cache_lag: timedelta = timedelta(seconds=0.1)
    history: int = 10_000
    staleness: Staleness = NONE
    controller_qps: float | None = 20.0
    controller_burst: int = 30
    start_seconds: tuple[float, float] = (1.0, 2.0)
    start_seconds_of: Mapping[str, tuple[float, float]] = MappingProxyType({})
    ready_seconds: tuple[float, float] = (0.0, 0.0)
    stop_seconds: tuple[float, float] = (1.0, 1.0)
