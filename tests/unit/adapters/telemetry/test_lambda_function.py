"""What a Lambda function prints is what CloudWatch needs."""

import io
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

NODE = Reference(kind="Node", name="n1", uid="u1")


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def recorder(log: io.StringIO) -> LambdaRecorder:
    logger = Logger(service=f"test-{uuid.uuid4()}", stream=log, location=None)
    return LambdaRecorder(SimulatedClock(NOW), cluster="prod", mode="act", logger=logger)


@pytest.fixture
def metrics(capsys: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return read


def test_a_decision_is_one_structured_line(recorder: LambdaRecorder, log: io.StringIO) -> None:
    recorder.decided(
        Decision(verb=Verb.MARK, subject=NODE, reason=Reason.SPOT_INTERRUPTION, message="cordoned")
    )
    line = json.loads(log.getvalue())
    assert line["level"] == "INFO"
    assert line["message"] == "cordoned"
    assert line["cluster"] == "prod"
    assert line["mode"] == "act"
    assert line["decision"]["verb"] == "mark"
    assert line["decision"]["reason"] == "SpotInterruption"
    assert line["decision"]["subject"] == {"kind": "Node", "name": "n1", "uid": "u1"}
    assert line["decision"]["time"] == "2026-11-21T06:00:00Z"


def test_what_a_person_should_know_is_a_warning(recorder: LambdaRecorder, log: io.StringIO) -> None:
    recorder.decided(
        Decision(
            verb=Verb.LEAVE, subject=NODE, reason=Reason.BARE_POD, message="look", warning=True
        )
    )
    assert json.loads(log.getvalue())["level"] == "WARNING"


def test_a_count_is_one_structured_line(recorder: LambdaRecorder, log: io.StringIO) -> None:
    web = Reference(kind="Deployment", namespace="shop", name="web", uid="w")
    recorder.counted_pods(PodCount(at=NOW, workload=web, available=2, wanted=3))
    line = json.loads(log.getvalue())
    assert line["level"] == "INFO"
    assert line["count"] == {
        "v": 1,
        "time": "2026-11-21T06:00:00Z",
        "cluster": "prod",
        "workload": {"kind": "Deployment", "name": "web", "namespace": "shop", "uid": "w"},
        "available": 2,
        "wanted": 3,
    }


def test_a_note_keeps_its_details_apart(recorder: LambdaRecorder, log: io.StringIO) -> None:
    recorder.noted("an odd action", event_id="e1", seconds=3)
    recorder.noted("just so")
    first, second = (json.loads(line) for line in log.getvalue().splitlines())
    assert first["details"] == {"event_id": "e1", "seconds": 3}
    assert second["message"] == "just so"
    assert "details" not in second


def test_settings_that_nothing_reads_are_named_in_a_line(log: io.StringIO) -> None:
    logger = Logger(service=f"test-{uuid.uuid4()}", stream=log, location=None)
    LambdaRecorder(SimulatedClock(NOW), cluster="c", mode="act", ignores=["A", "B"], logger=logger)
    message = json.loads(log.getvalue())["message"]
    assert message == "ignored, for this version has no such setting: A, B"


def test_counts_are_summed_up_per_invocation_and_measurements_are_not(
    recorder: LambdaRecorder, metrics: Callable[[], list[dict[str, Any]]]
) -> None:
    for delay in (120.5, 90.0):
        recorder.counted(Metric.NOTICES_RECEIVED)
        recorder.counted(Metric.NOTICE_DELAY, delay)
    assert metrics() == []

    recorder.flush()

    (line,) = metrics()
    assert line["cluster"] == "prod"
    assert line["NoticesReceived"] == [2.0]
    assert line["NoticeDelay"] == [120.5, 90.0]
    (description,) = line["_aws"]["CloudWatchMetrics"]
    assert description["Namespace"] == "Evenkeel"
    assert description["Dimensions"] == [["cluster"]]
    assert {each["Name"]: each["Unit"] for each in description["Metrics"]} == {
        "NoticesReceived": "Count",
        "NoticeDelay": "Milliseconds",
    }


def test_the_next_invocation_counts_from_zero(
    recorder: LambdaRecorder, metrics: Callable[[], list[dict[str, Any]]]
) -> None:
    recorder.counted(Metric.NODES_CORDONED)
    recorder.flush()
    recorder.counted(Metric.NODES_CORDONED)
    recorder.flush()
    first, second = metrics()
    assert first["NodesCordoned"] == second["NodesCordoned"] == [1.0]
    assert second["cluster"] == "prod"


def test_nothing_is_printed_when_nothing_was_counted(
    recorder: LambdaRecorder, metrics: Callable[[], list[dict[str, Any]]]
) -> None:
    recorder.flush()
    assert metrics() == []


def test_no_measurement_is_lost_in_a_storm(
    recorder: LambdaRecorder, metrics: Callable[[], list[dict[str, Any]]]
) -> None:
    for _ in range(250):
        recorder.counted(Metric.NOTICE_DELAY, 1.0)
        recorder.counted(Metric.NOTICES_RECEIVED)
    recorder.flush()
    lines = metrics()
    assert sum(len(line.get("NoticeDelay", [])) for line in lines) == 250
    assert sum(sum(line.get("NoticesReceived", [])) for line in lines) == 250
    assert all(line["cluster"] == "prod" for line in lines)
