"""docs/operations.md knows every parameter and output, and names no metric that is not counted."""

import re
from pathlib import Path

from evenkeel.model.metrics import Metric
from tests.template.cloudformation import load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
PACKAGE = ROOT / "layers" / "evenkeel" / "evenkeel"

AWS_METRICS = {"ApproximateNumberOfMessagesVisible", "Errors", "Throttles", "Invocations"}


def table(heading: str) -> list[str]:
    """The rows of the table under a heading."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


def first_cells(heading: str) -> str:
    return "\n".join(row.split("|")[1] for row in table(heading))


def test_every_parameter_is_in_the_table_with_its_default() -> None:
    parameters = load()["Parameters"]
    assert set(re.findall(r"`(\w+)`", first_cells("Parameters"))) == set(parameters)
    for row in table("Parameters"):
        (name, *_), default = re.findall(r"`(\w+)`", row), row.split("|")[2].strip()
        meant = {"-": None, "none": ""}.get(default, default)
        assert str(meant) == str(parameters[name].get("Default")), row


def test_the_metrics_to_watch_are_counted_somewhere() -> None:
    named = {re.findall(r"`(\w+)`", row)[0] for row in table("Watch")}
    ours = named - AWS_METRICS
    assert ours
    assert ours <= {metric.value for metric in Metric}


def test_every_row_to_watch_has_an_alarm_and_every_alarm_a_row() -> None:
    resources = load()["Resources"].values()
    alarms = {
        each["Properties"]["MetricName"]
        for each in resources
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    assert alarms == {re.findall(r"`(\w+)`", row)[0] for row in table("Watch")}


def test_the_files_and_targets_that_it_names_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+(?:-[a-z]+)*)", PAGE)) - {"up"} <= targets
    for path in re.findall(r"\b(?:manifests|events|docs)/[\w./-]*\w", PAGE):
        assert (ROOT / path).exists(), path
