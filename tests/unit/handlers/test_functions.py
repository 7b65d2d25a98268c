"""The functions as Lambda loads them: app.py, its ``handler``, the environment, real sockets."""

import base64
import importlib.util
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from moto import mock_aws

from evenkeel.errors import NothingDoneError, SettingsError
from evenkeel.handlers import Lazy
from evenkeel_sandbox.simulator.api.patches import json_patch
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import Context
from tests.kit.api_server import Handler, ScriptedServer, answer, refusal, serving
from tests.kit.certificates import Authority
from tests.unit.handlers.making import record, warning

ROOT = Path(__file__).parents[3]
FUNCTIONS = ROOT / "functions"
EVENTS = ROOT / "events"
REGION = "eu-central-1"


def load(name: str) -> ModuleType:
    """Load a function as Lambda does, a new one each time."""
    spec = importlib.util.spec_from_file_location("app", FUNCTIONS / name / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENKEEL_MODE", "EVENKEEL_CLUSTER_NAME", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    # Loggers live as long as the process, and keep the standard output of their first test.
    logging.Logger.manager.loggerDict.pop("evenkeel", None)


@pytest.mark.parametrize("name", ["interruption", "handover", "restore"])
def test_it_loads_without_an_environment_and_names_what_is_missing_at_the_first_event(
    name: str,
) -> None:
    handler = load(name).handler
    assert isinstance(handler, Lazy)
    with pytest.raises(SettingsError, match="EVENKEEL_MODE is not set"):
        handler({"Records": []}, None)


@pytest.mark.parametrize("name", ["interruption", "handover", "restore"])
def test_another_handler_can_be_bound_to_it(name: str) -> None:
    module = load(name)
    module.handler.bind(lambda event, _context: {"seen": event})
    assert module.handler({"n": 1}, None) == {"seen": {"n": 1}}


@dataclass(frozen=True, slots=True)
class Account:
    """An AWS account with two queues, and an instance that is a node."""

    notices: str
    wake_ups: str
    instance_id: str
    node: str

    def waiting(self, queue: str, kind: str = "") -> int:
        """How many messages a queue holds; of the kind Delayed or NotVisible, or visible."""
        name: Any = f"ApproximateNumberOfMessages{kind}"
        attributes = boto3.client("sqs", region_name=REGION).get_queue_attributes(
            QueueUrl=queue, AttributeNames=[name]
        )
        return int(attributes["Attributes"][name])


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        sqs = boto3.client("sqs", region_name=REGION)
        ec2 = boto3.client("ec2", region_name=REGION)
        spot: Any = {"InstanceMarketOptions": {"MarketType": "spot"}}
        run = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, **spot)
        instance = run["Instances"][0]
        yield Account(
            notices=sqs.create_queue(QueueName="notices")["QueueUrl"],
            wake_ups=sqs.create_queue(QueueName="wake-ups")["QueueUrl"],
            instance_id=instance["InstanceId"],
            node=instance["PrivateDnsName"],
        )


@pytest.fixture
def api(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ScriptedServer]:
    """An API server as EKS makes them, and the environment that a deployment would have."""
    authority = Authority(key_identifiers=False)
    with serving(authority.server_context(tmp_path, "127.0.0.1")) as server:
        settings = {
            "EVENKEEL_MODE": "act",
            "EVENKEEL_CLUSTER_NAME": "prod",
            "EVENKEEL_CLUSTER_ENDPOINT": server.url,
            "EVENKEEL_CLUSTER_CA": base64.b64encode(authority.certificate.encode()).decode(),
            "EVENKEEL_NOTICE_QUEUE_URL": account.notices,
            "EVENKEEL_WAKE_UP_QUEUE_URL": account.wake_ups,
            "AWS_REGION": REGION,
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield server


def node_of(account: Account, **spec: object) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": account.node, "uid": "u1", "resourceVersion": "7"},
        "spec": {"providerID": f"aws:///eu-central-1a/{account.instance_id}", **spec},
    }


def context() -> Context:
    now = datetime.now(UTC)  # noqa: TID251 - the functions have the real clock
    return Context(SimulatedClock(now), now + timedelta(seconds=20), "request-1")


def test_the_interruption_function_marks_a_node_and_tells_of_it(
    account: Account, api: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    event = warning(account.instance_id)
    api.script(
        answer(200, node_of(account)),
        refusal(404, "NotFound", 'configmaps "evenkeel-paused" not found'),
        lambda handler: answer(200, json_patch(node_of(account), handler.seen.json))(handler),
        answer(
            201,
            {
                "metadata": {"name": "event"},
                "involvedObject": {"kind": "Node", "name": "n"},
                "reason": "SpotInterruption",
                "message": "",
            },
        ),
    )

    answered = load("interruption").handler({"Records": [record(event)]}, context())

    assert answered == {"batchItemFailures": []}
    read, pause, mark, told = api.seen
    assert (read.method, read.path) == ("GET", f"/api/v1/nodes/{account.node}")
    assert read.headers["Authorization"].startswith("Bearer k8s-aws-v1.")
    assert pause.path == "/api/v1/namespaces/evenkeel-system/configmaps/evenkeel-paused"
    assert (mark.method, mark.path) == ("PATCH", f"/api/v1/nodes/{account.node}")
    assert mark.headers["Content-Type"] == "application/json-patch+json"
    assert {"op": "add", "path": "/spec/unschedulable", "value": True} in mark.json
    assert (told.method, told.path) == ("POST", "/api/v1/namespaces/default/events")
    assert told.json["reason"] == "SpotInterruption"
    # It is visible a second later, by when a busy machine may get here.
    assert account.waiting(account.wake_ups, "Delayed") + account.waiting(account.wake_ups) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (decision,) = (line for line in lines if "decision" in line)
    assert decision["decision"]["verb"] == "mark"
    assert decision["function_request_id"] == "request-1"
    (metrics,) = (line for line in lines if "_aws" in line)
    assert metrics["NodesCordoned"] == [1.0]
    assert "k8s-aws-v1" not in json.dumps(lines)


def test_the_interruption_function_gives_back_what_the_api_server_refuses(
    account: Account, api: ScriptedServer
) -> None:
    event = json.loads((EVENTS / "interruption-warning-terminate.json").read_text())
    event["detail"]["instance-id"] = account.instance_id
    api.script(always=refusal(403, "Forbidden", "nodes is forbidden"))

    answered = load("interruption").handler({"Records": [record(event)]}, context())

    assert answered == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert account.waiting(account.wake_ups, "Delayed") == 0


def test_the_handover_function_finds_nothing_to_do_on_a_quiet_cluster(
    account: Account, api: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api.script(always=quiet)

    answered = load("handover").handler({"source": "aws.scheduler", "detail": "{}"}, context())

    assert answered == {}
    assert account.waiting(account.wake_ups) == account.waiting(account.wake_ups, "Delayed") == 0
    assert all(seen.headers["Authorization"].startswith("Bearer k8s-aws-v1.") for seen in api.seen)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert any(line.get("function_request_id") == "request-1" for line in lines)


@pytest.mark.parametrize("name", ["handover", "restore"])
@pytest.mark.parametrize(
    ("code", "remedy"), [(401, "restore its access entry"), (403, "evenkeel doctor")]
)
@pytest.mark.usefixtures("account")
def test_a_call_of_the_schedule_fails_where_the_api_server_refuses_the_role(
    name: str, code: int, remedy: str, api: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api.script(always=refusal(code, "Refused"))
    handler = load(name).handler

    for _ in range(2):
        with pytest.raises(NothingDoneError, match=remedy):
            handler({"source": "aws.scheduler", "detail": "{}"}, context())

    printed = capsys.readouterr().out
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["ClusterForbidden"] for line in lines if "_aws" in line] == [[1.0], [1.0]]
    notes = [line["message"] for line in lines if "message" in line]
    of_the_role = [note for note in notes if "refuses these credentials" in note]
    assert len(of_the_role) == (code == 401)  # once, and not with each call
    assert "k8s-aws-v1" not in printed


def test_the_interruption_function_answers_a_probe(
    account: Account, api: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api.script(always=quiet)
    probe = {
        "id": "e1",
        "source": "evenkeel.probe/evenkeel",
        "detail-type": "Evenkeel Probe",
        "time": "2026-11-21T06:00:00Z",
        "detail": {},
    }

    answered = load("interruption").handler({"Records": [record(probe)]}, context())

    assert answered == {"batchItemFailures": []}
    asked, pause = sorted(api.seen, key=lambda request: "configmaps" in request.path)
    assert (asked.method, asked.path, asked.query["limit"]) == ("GET", "/api/v1/nodes", "1")
    assert pause.path.endswith("/configmaps/evenkeel-paused")
    assert "resourceVersion" not in asked.query
    (metrics,) = (
        line for line in map(json.loads, capsys.readouterr().out.splitlines()) if "_aws" in line
    )
    assert metrics["ProbesAnswered"] == [1.0]
    assert account.waiting(account.wake_ups, "Delayed") == 0


def quiet(handler: Handler) -> None:
    """An empty cluster: lists are empty, nothing else is there, what is made is taken."""
    last = handler.path.partition("?")[0].rsplit("/", 1)[-1]
    if handler.command == "GET" and last in ("namespaces", "nodes", "pods"):
        answer(200, {"metadata": {"resourceVersion": "1"}, "items": []})(handler)
    elif handler.command == "GET":
        refusal(404, "NotFound", f"{last} not found")(handler)
    else:
        body = {"metadata": {"name": "x", "namespace": "evenkeel-system", "resourceVersion": "2"}}
        answer(200, body)(handler)
