"""What is counted, for Prometheus: the metrics of a process behind a port of their own."""

import re
from collections.abc import Callable, Iterable, Mapping
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Counter, Histogram, make_wsgi_app

from evenkeel.model.decision import Decision
from evenkeel.model.metrics import MILLISECONDS, Metric

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


def serve(registry: CollectorRegistry, address: str, port: int, is_well: Callable[[], bool]) -> int:
    """Answer GET /metrics and GET /healthz until the process ends; the port that is taken.

    /healthz is 503 when ``is_well`` says so: a probe then has the process started anew. Port 0 is
    a free one. Raises OSError where the port cannot be had.
    """
    metrics = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics":
            found: Iterable[bytes] = metrics(environ, start)
            return found
        status, body = "404 Not Found", b"there is nothing here\n"
        if path == "/healthz":
            well = is_well()
            status = "200 OK" if well else "503 Service Unavailable"
            body = b"ok\n" if well else b"a part of it has ended\n"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [body]

    server = make_server(address, port, answer, _Server, _Quiet)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server.server_port


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing: a probe comes every few seconds."""
