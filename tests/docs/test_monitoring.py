"""The alert rules: what they name exists."""

import re
from typing import Any

import pytest
import yaml

from evenkeel.model.metrics import MILLISECONDS, Metric
from evenkeel_runtime.metrics import name_of
from evenkeel_runtime.serve import certificate
from tests.kit.control_plane import ROOT

MONITORING = ROOT / "manifests" / "monitoring"
SERIES = {
    name
    for metric in Metric
    for name in (
        [f"{name_of(metric)}_{part}" for part in ("bucket", "sum", "count")]
        if metric.unit == MILLISECONDS
        else [name_of(metric)]
    )
} | {certificate.SERIES}


def rules() -> list[dict[str, Any]]:
    """The alert rules."""
    document = yaml.safe_load((MONITORING / "rules.yaml").read_text())
    return [rule for group in document["spec"]["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_names_series_that_a_process_has_and_says_what_to_do(
    rule: dict[str, Any],
) -> None:
    named = set(re.findall(r"evenkeel_\w+", rule["expr"]))
    assert named
    assert named <= SERIES
    assert rule["annotations"].keys() == {"summary", "description"}
    assert rule["labels"]["severity"] in ("warning", "critical")


def test_what_is_scraped_is_a_port_of_the_services() -> None:
    monitor = yaml.safe_load((MONITORING / "servicemonitor.yaml").read_text())
    (endpoint,) = monitor["spec"]["endpoints"]
    for file in ("serve/service.yaml", "poll/deployment.yaml"):
        documents = yaml.safe_load_all((ROOT / "manifests" / file).read_text())
        (service,) = (each for each in documents if each["kind"] == "Service")
        assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}
