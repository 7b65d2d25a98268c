"""The metrics of a process, as Prometheus reads them."""

import re
from collections.abc import Iterator

import pytest
import urllib3

from evenkeel.model.metrics import MILLISECONDS, Metric
from runtime.metrics import PrometheusRecorder, name_of, serve


@pytest.fixture
def recorder() -> PrometheusRecorder:
    """Nothing was counted yet."""
    return PrometheusRecorder("prod")


@pytest.fixture
def ask() -> Iterator[urllib3.PoolManager]:
    """What asks over HTTP."""
    with urllib3.PoolManager(retries=False, timeout=10) as pool:
        yield pool


def sample(recorder: PrometheusRecorder, name: str, **labels: str) -> float | None:
    """A value of the cluster's."""
    return recorder.registry.get_sample_value(name, {"cluster": "prod", **labels})


def test_counts_add_up(recorder: PrometheusRecorder) -> None:
    recorder.counted(Metric.PODS_HANDED_OVER)
    recorder.counted(Metric.PODS_HANDED_OVER, 4)
    assert sample(recorder, "evenkeel_pods_handed_over_total") == 5


def test_delays_are_in_seconds_and_in_buckets(recorder: PrometheusRecorder) -> None:
    recorder.counted(Metric.NOTICE_DELAY, 2_400)
    recorder.counted(Metric.NOTICE_DELAY, 61_000)
    assert sample(recorder, "evenkeel_notice_delay_seconds_sum") == pytest.approx(63.4)
    assert sample(recorder, "evenkeel_notice_delay_seconds_bucket", le="2.5") == 1
    assert sample(recorder, "evenkeel_notice_delay_seconds_bucket", le="60.0") == 1
    assert sample(recorder, "evenkeel_notice_delay_seconds_bucket", le="90.0") == 2


@pytest.mark.parametrize("metric", Metric)
def test_every_metric_is_there_before_anything_is_counted(
    recorder: PrometheusRecorder, metric: Metric
) -> None:
    suffix = "_count" if metric.unit == MILLISECONDS else ""
    assert sample(recorder, f"{name_of(metric)}{suffix}") == 0
    assert re.fullmatch(r"evenkeel(_[a-z]+)+", name_of(metric))


def test_metrics_and_health_are_answered_on_a_port(
    recorder: PrometheusRecorder, ask: urllib3.PoolManager
) -> None:
    well = [True]
    port = serve(recorder.registry, "127.0.0.1", 0, lambda: well[0])
    url = f"http://127.0.0.1:{port}"
    text = ask.request("GET", f"{url}/metrics").data.decode()
    assert 'evenkeel_pods_released_total{cluster="prod"} 0.0' in text
    assert ask.request("GET", f"{url}/healthz").status == 200
    assert ask.request("GET", f"{url}/").status == 404

    well[0] = False
    assert ask.request("GET", f"{url}/healthz").status == 503


def test_a_port_that_is_taken_is_an_error(recorder: PrometheusRecorder) -> None:
    port = serve(recorder.registry, "127.0.0.1", 0, lambda: True)
    with pytest.raises(OSError, match="in use"):
        serve(recorder.registry, "127.0.0.1", port, lambda: True)
