"""The built artifact under Lambda's own runtime for Python: found, started, invoked, answered."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kit.cold_start import environment
from tests.kit.control_plane import ROOT
from tests.kit.http_server import HOST
from tests.kit.processes import ended
from tests.stack.deployed.ministack import BUILT, RUNTIME
from tests.stack.deployed.runtime_api import RuntimeApi
from tests.stack.samples import SAMPLES

pytestmark = pytest.mark.stack

LAYER = BUILT.parent / "Layer" / "python"


@contextmanager
def started(function: str, log: Path) -> Iterator[RuntimeApi]:
    """A function in a runtime that has nothing of ours but its folder and the layer."""
    assert RUNTIME.exists(), "there is no runtime: make venv-runtime"
    folder = BUILT.parent / f"{function.capitalize()}Function"
    with RuntimeApi() as api, log.open("wb") as out:
        lambdas: Mapping[str, str] = {
            **environment(),
            "AWS_LAMBDA_RUNTIME_API": f"{HOST}:{api.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": f"evenkeel-{function}",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "LAMBDA_TASK_ROOT": str(folder),
            "PYTHONPATH": str(LAYER),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        with subprocess.Popen(
            [RUNTIME, "-m", "awslambdaric", "app.handler"],
            env=dict(lambdas),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        ) as process:
            try:
                yield api
            finally:
                ended(process)


def record(body: str) -> dict[str, Any]:
    """A record as SQS's event source hands it to a function."""
    return {
        "messageId": "message-1",
        "receiptHandle": "receipt-1",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1795240800000"},
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:evenkeel",
        "awsRegion": "eu-central-1",
    }


def test_what_ends_no_instance_is_acknowledged(tmp_path: Path) -> None:
    event = (ROOT / "events" / "state-change-running.json").read_text()
    with started("interruption", tmp_path / "log") as api:
        answer = api.invoke({"Records": [record(event)]})
    assert answer == ("response", {"batchItemFailures": []})
    assert '"reason":"Harmless"' in (tmp_path / "log").read_text()


def test_a_wake_up_that_cannot_be_read_is_acknowledged(tmp_path: Path) -> None:
    with started("handover", tmp_path / "log") as api:
        answer = api.invoke({"Records": [record("{")]})
    assert answer == ("response", {"batchItemFailures": []})
    assert '"WakeUpsMalformed":[1.0]' in (tmp_path / "log").read_text()


def test_the_samples_of_what_lambda_hands_over_are_taken(tmp_path: Path) -> None:
    """As far as a function comes without a cluster: it asks for one, and says so."""
    notices, schedule = (
        json.loads((ROOT / "events" / "lambda" / name).read_text())
        for name in ("notices.json", "schedule.json")
    )
    with started("interruption", tmp_path / "interruption") as api:
        kind, answer = api.invoke(notices)
    back = {"itemIdentifier": notices["Records"][0]["messageId"]}
    assert (kind, answer) == ("response", {"batchItemFailures": [back]})
    for function in ("handover", "restore"):
        with started(function, tmp_path / function) as api:
            kind, answer = api.invoke(schedule)
        assert (kind, answer["errorType"]) == ("error", "NothingDoneError")


ACKNOWLEDGED = {"state-change-running", "lifecycle-action-terminate"}
"""No node is lost, and no hook is Evenkeel's."""


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_without_a_queue_is_taken_for_what_it_is(name: str, tmp_path: Path) -> None:
    with started("interruption", tmp_path / "log") as api:
        kind, answer = api.invoke(SAMPLES[name])
    if name in ACKNOWLEDGED:
        assert (kind, answer) == ("response", {})
    else:
        assert (kind, answer["errorType"]) == ("error", "NotDoneError")


def test_an_event_that_is_no_batch_is_an_error_that_says_so(tmp_path: Path) -> None:
    with started("interruption", tmp_path / "log") as api:
        kind, answer = api.invoke({"detail-type": "Scheduled Event"})
    assert (kind, answer["errorType"]) == ("error", "MalformedEventError")
