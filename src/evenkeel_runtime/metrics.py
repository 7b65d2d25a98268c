"""What is counted, for Prometheus."""

import re
from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from evenkeel.model.decision import Decision
from evenkeel.model.metrics import MILLISECONDS, Metric
from evenkeel.model.pod_count import PodCount

BUCKETS: Final = (1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120)
"""Seconds. A notice leaves 120."""

_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def name_of(metric: Metric) -> str:
    """``evenkeel_pods_released_total``, ``evenkeel_notice_delay_seconds``."""
    words = _WORD.sub("_", metric.value).lower()
    return f"evenkeel_{words}_{'seconds' if metric.unit == MILLISECONDS else 'total'}"


class PrometheusRecorder:
    """A Recorder that counts. Any thread may use it; all metrics are there from the beginning."""

    def __init__(self, cluster: str) -> None:
        """``cluster`` is the label of every metric, as it is CloudWatch's dimension."""
        self.registry = CollectorRegistry()
        self._counters: Mapping[Metric, Counter] = {
            metric: Counter(name_of(metric), metric.meaning, ["cluster"], registry=self.registry)
            for metric in Metric
            if metric.unit != MILLISECONDS
        }
        self._histograms: Mapping[Metric, Histogram] = {
            metric: Histogram(
                name_of(metric),
                metric.meaning,
                ["cluster"],
                buckets=BUCKETS,
                registry=self.registry,
            )
            for metric in Metric
            if metric.unit == MILLISECONDS
        }
        self._cluster = cluster
        for each in (*self._counters.values(), *self._histograms.values()):
            each.labels(cluster)

    def decided(self, decision: Decision) -> None:
        """Nothing: a decision is no count."""

    def counted_pods(self, count: PodCount) -> None:
        """Nothing: it is a workload's, and a metric has no name for each."""

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Count; times become seconds."""
        if metric in self._histograms:
            self._histograms[metric].labels(self._cluster).observe(value / 1000)
        else:
            self._counters[metric].labels(self._cluster).inc(value)

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no count."""

    def flush(self) -> None:
        """Nothing is held back."""
