"""The metrics of a process."""

import re

import pytest

from evenkeel.model.metrics import MILLISECONDS, Metric
from evenkeel_runtime.metrics import PrometheusRecorder, name_of


@pytest.fixture
def recorder() -> PrometheusRecorder:
    """Nothing was counted yet."""
    return PrometheusRecorder("prod")


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
