"""The list of metrics, which alarms and dashboards name."""

from pathlib import Path

import evenkeel
from evenkeel.model.metrics import Metric

LAYER = Path(evenkeel.__file__).parent


def test_every_metric_of_the_list_is_counted_somewhere() -> None:
    code = "".join(path.read_text() for path in LAYER.rglob("*.py") if path.name != "metrics.py")
    assert [metric for metric in Metric if f"Metric.{metric.name}" not in code] == []


def test_every_metric_says_what_it_means_in_one_sentence() -> None:
    assert all(metric.meaning.endswith(".") for metric in Metric)
    assert len({metric.value for metric in Metric}) == len(Metric)
