"""The list of metrics, which alarms and dashboards name."""

from evenkeel.model.metrics import Metric
from tests.kit.control_plane import ROOT

FOLDERS = ROOT / "layers", ROOT / "src"


def test_every_metric_of_the_list_is_counted_somewhere() -> None:
    paths = [path for folder in FOLDERS for path in folder.rglob("*.py")]
    code = "".join(path.read_text() for path in paths if path.name != "metrics.py")
    assert [metric for metric in Metric if f"Metric.{metric.name}" not in code] == []


def test_every_metric_says_what_it_means_in_one_sentence() -> None:
    assert all(metric.meaning.endswith(".") for metric in Metric)
    assert len({metric.value for metric in Metric}) == len(Metric)
