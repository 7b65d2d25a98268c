"""Metrics of a process that goes on for long."""

from collections.abc import Callable

from evenkeel_cli.errors import UnmetError
from evenkeel_cli.log import LineRecorder
from evenkeel_runtime import metrics_port
from evenkeel_runtime.metrics import PrometheusRecorder


def serve(
    metrics: PrometheusRecorder,
    address: str,
    port: int,
    is_well: Callable[[], bool],
    log: LineRecorder,
) -> None:
    """Answer /metrics and /healthz from now on, and say where. Raises UnmetError."""
    try:
        taken = metrics_port.serve(metrics.registry, address, port, is_well)
    except OSError as error:
        raise UnmetError(f"port {port} of {address} cannot be served: {error}") from None
    log.say(f"serves metrics on port {taken}")
