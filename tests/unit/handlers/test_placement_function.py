"""The placement function as Lambda loads it: its environment, real sockets, HTTP API's events."""

import base64
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from evenkeel.errors import SettingsError
from evenkeel_hosting import functions
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import Context
from tests.kit.api_server import Handler, ScriptedServer, answer, refusal, serving
from tests.kit.certificates import Authority
from tests.kit.reviews import TOKEN
from tests.unit.handlers.making import review


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """An API server as EKS makes them, and the environment that a deployment would have."""
    logging.Logger.manager.loggerDict.pop("evenkeel", None)
    authority = Authority(key_identifiers=False)
    with serving(authority.server_context(tmp_path, "127.0.0.1")) as server:
        settings = {
            "EVENKEEL_MODE": "act",
            "EVENKEEL_CLUSTER_NAME": "prod",
            "EVENKEEL_CLUSTER_ENDPOINT": server.url,
            "EVENKEEL_CLUSTER_CA": base64.b64encode(authority.certificate.encode()).decode(),
            "EVENKEEL_WEBHOOK_TOKEN": TOKEN,
            "AWS_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield server


def context() -> Context:
    now = datetime.now(UTC)  # noqa: TID251 - the function has the real clock
    return Context(SimulatedClock(now), now + timedelta(seconds=5), "request-1")


def managed(handler: Handler) -> None:
    """A managed namespace with a ReplicaSet of one, all on on-demand."""
    last = handler.path.partition("?")[0].rsplit("/", 1)[-1]
    if last == "shop":
        labels = {"evenkeel.dev/managed": "true"}
        answer(200, {"metadata": {"name": "shop", "labels": labels}})(handler)
    elif last == "web-1":
        notes = {"evenkeel.dev/on-demand": "all"}
        metadata = {"name": "web-1", "namespace": "shop", "uid": "u1", "annotations": notes}
        answer(200, {"metadata": metadata, "spec": {"replicas": 1}})(handler)
    else:
        refusal(404, "NotFound", f"{last} not found")(handler)


def test_it_names_what_is_missing_at_the_first_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENKEEL_MODE", raising=False)
    with pytest.raises(SettingsError, match="EVENKEEL_MODE is not set"):
        functions.load("placement")(review(), None)


def test_it_places_a_pod_and_logs_no_token(
    api: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api.script(always=managed)

    answered = functions.load("placement")(review(), context())

    assert answered["statusCode"] == 200
    response = json.loads(answered["body"])["response"]
    assert response["allowed"] is True
    assert b"NotIn" in base64.b64decode(response["patch"])
    assert all(seen.headers["Authorization"].startswith("Bearer k8s-aws-v1.") for seen in api.seen)
    out = capsys.readouterr().out
    lines = [json.loads(line) for line in out.splitlines()]
    (decision,) = (line for line in lines if "decision" in line)
    assert decision["decision"]["reason"] == "AllInFloor"
    assert decision["function_request_id"] == "request-1"
    assert TOKEN not in out


def test_it_takes_the_token_from_secrets_manager(
    api: ScriptedServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    api.script(always=managed)
    monkeypatch.delenv("EVENKEEL_WEBHOOK_TOKEN")
    with mock_aws():
        client = boto3.client("secretsmanager", region_name="eu-central-1")
        made = client.create_secret(Name="webhook", SecretString=TOKEN)
        monkeypatch.setenv("EVENKEEL_WEBHOOK_SECRET", made["ARN"])
        answered = functions.load("placement")(review(), context())

    assert answered["statusCode"] == 200
    assert TOKEN not in capsys.readouterr().out
