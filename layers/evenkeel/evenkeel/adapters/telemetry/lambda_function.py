"""Structured logs and metrics of a Lambda function, by AWS Lambda Powertools.

A metric's counts are summed up per invocation, so a storm of thousands is one number in one
line; measurements such as delays stay single values. Metrics have the dimension ``cluster``
in the namespace ``Evenkeel``.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final

import msgspec
from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.decision_log import count_record, record
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import COUNT, Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock, Cluster, Recorder

NAMESPACE: Final = "Evenkeel"
SERVICE: Final = "evenkeel"


class LambdaRecorder:
    """A Recorder for Lambda: everything goes to standard output, CloudWatch takes it up."""

    def __init__(
        self,
        clock: Clock,
        *,
        cluster: str,
        mode: str,
        ignores: Sequence[str] = (),
        logger: Logger | None = None,
    ) -> None:
        """``cluster`` is the cluster's name, ``mode`` whether the function acts or observes.

        ``ignores``: variables of the environment that nothing reads; a line says so.
        """
        self.logger = logger or Logger(service=SERVICE, location=None)
        self.logger.append_keys(cluster=cluster, mode=mode)
        self._clock = clock
        self._cluster = cluster
        self._mode = mode
        self._metrics = EphemeralMetrics(namespace=NAMESPACE)
        self._metrics.set_default_dimensions(cluster=cluster)
        self._counts: defaultdict[str, float] = defaultdict(float)
        if ignores:
            self.noted(f"ignored, for this version has no such setting: {', '.join(ignores)}")
        self._lock = Lock()  # it is flushed beside the loop, which counts on

    def decided(self, decision: Decision) -> None:
        """Log a decision, as the decision log has it."""
        entry = record(decision, self._clock.now(), self._cluster, self._mode)
        details = {"decision": msgspec.to_builtins(entry)}
        if decision.warning:
            self.logger.warning(decision.message, extra=details)
        else:
            self.logger.info(decision.message, extra=details)

    def counted_pods(self, count: PodCount) -> None:
        """Log how many pods of a workload are available, as the decision log has it."""
        details = {"count": msgspec.to_builtins(count_record(count, self._cluster))}
        self.logger.info("pods counted", extra=details)

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Count for the metrics that ``flush`` hands on."""
        with self._lock:
            if metric.unit == COUNT:
                self._counts[metric] += value
            else:
                self._metrics.add_metric(name=metric, unit=metric.unit, value=value)

    def noted(self, message: str, **details: object) -> None:
        """Log a note. Details of the notes are for people: text, numbers, times."""
        self.logger.info(message, extra={"details": details} if details else None)

    def flush(self) -> None:
        """Hand on what was counted since the last time."""
        with self._lock:
            for metric, value in self._counts.items():
                self._metrics.add_metric(name=metric, unit=COUNT, value=value)
            self._counts.clear()
            if self._metrics.metric_set:
                self._metrics.flush_metrics()


class LambdaTelemetry:
    """Everything that a function records: its log and metrics, and Kubernetes Events.

    ``recorder`` is for the handler; ``follow`` puts the invocation's request id into every
    line that the handler logs.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, log: LambdaRecorder, *, observes: bool
    ) -> None:
        """``observes``: each Event says that nothing was written."""
        self._log = log
        events = ClusterEvents(cluster, clock, log, observes=observes)
        # Events first: what the API server refuses is still counted in the same invocation.
        self.recorder: Recorder = Tee(events, self._log)

    def follow(
        self, handler: Callable[[dict[str, Any], object], dict[str, Any]]
    ) -> Callable[[dict[str, Any], object], dict[str, Any]]:
        """The same handler, whose log lines name the invocation."""
        return self._log.logger.inject_lambda_context(handler)
