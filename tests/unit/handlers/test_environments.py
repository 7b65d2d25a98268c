"""What becomes of a function in its environment: it is frozen for minutes, its disk is full."""

import base64
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_hosting import functions
from evenkeel_sandbox.simulator.api.patches import json_patch
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import Context
from tests.kit.certificates import Authority
from tests.kit.forgetful import Forgetful
from tests.kit.http_server import Answer, Request
from tests.kit.reviews import TOKEN
from tests.unit.handlers.making import record, review, warning

REGION = "eu-central-1"
SOON = 1.5
INSTANCE = "i-0123456789abcdef0"
NODE = "ip-10-0-0-1.ec2.internal"
DESCRIBED = f"""
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet><item>
<instancesSet><item><instanceId>{INSTANCE}</instanceId><instanceLifecycle>spot</instanceLifecycle>
<instanceState><code>16</code><name>running</name></instanceState>
<privateDnsName>{NODE}</privateDnsName></item></instancesSet>
</item></reservationSet></DescribeInstancesResponse>
"""


def aws(request: Request) -> bytes:
    """An instance that is a node, queues that take all, a secret with the token."""
    if b"DescribeInstances" in request.body:
        return DESCRIBED.encode()
    if "GetSecretValue" in request.headers.get("X-Amz-Target", ""):
        return json.dumps({"Name": "webhook", "SecretString": TOKEN}).encode()
    return b"{}"


def cluster(request: Request) -> Answer:
    """The instance's node, and nothing else."""
    last = request.path.rsplit("/", 1)[-1]
    if last == NODE:
        node = {
            "metadata": {"name": NODE, "uid": "u", "resourceVersion": "7"},
            "spec": {"providerID": f"aws:///eu-central-1a/{INSTANCE}"},
        }
        shown = node if request.method == "GET" else json_patch(node, request.json)
        return Answer(json.dumps(shown).encode())
    if request.method != "GET":
        made = {"metadata": {"name": last, "namespace": "x", "resourceVersion": "2"}}
        return Answer(json.dumps(made).encode())
    if "." in last or last in ("evenkeel-paused", "shop", "web-1", "evenkeel-handover"):
        missing = {"kind": "Status", "code": 404, "reason": "NotFound", "message": last}
        return Answer(json.dumps(missing).encode(), 404)
    return Answer(b'{"metadata": {"resourceVersion": "1"}, "items": []}')


EVENTS: dict[str, Any] = {
    "interruption": lambda: {"Records": [record(warning(INSTANCE))]},
    "handover": lambda: {"source": "aws.scheduler", "detail": "{}"},
    "restore": lambda: {"source": "aws.scheduler", "detail": "{}"},
    "placement": review,
}


@pytest.fixture
def ground(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Forgetful, Forgetful]]:
    """An API server and AWS, and the environment that a deployment would have."""
    logging.Logger.manager.loggerDict.pop("evenkeel", None)
    authority = Authority(key_identifiers=False)
    context = authority.server_context(tmp_path, "127.0.0.1")
    with Forgetful(cluster, context) as api, Forgetful(aws) as services:
        settings = {
            "EVENKEEL_MODE": "act",
            "EVENKEEL_CLUSTER_NAME": "prod",
            "EVENKEEL_CLUSTER_ENDPOINT": api.url,
            "EVENKEEL_CLUSTER_CA": base64.b64encode(authority.certificate.encode()).decode(),
            "EVENKEEL_NOTICE_QUEUE_URL": "https://sqs.example/123456789012/notices",
            "EVENKEEL_WAKE_UP_QUEUE_URL": "https://sqs.example/123456789012/wake-ups",
            "EVENKEEL_WEBHOOK_SECRET": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:w",
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": services.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield api, services


@pytest.mark.parametrize("name", EVENTS)
def test_the_first_event_after_a_freeze_is_answered_at_once(
    name: str,
    ground: tuple[Forgetful, Forgetful],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With connections open, and a token that has run out; and nothing is noted of it."""
    handler = functions.load(name)
    started = datetime.now(UTC)  # noqa: TID251 - the functions have the real clock
    before = handler(EVENTS[name](), Context(SimulatedClock(started), started + timedelta(1), "a"))
    assert not before.get("batchItemFailures")
    capsys.readouterr()

    for server in ground:
        server.forget()
    jump, now = timedelta(minutes=20), SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda self: now(self) + jump)
    began = time.monotonic()
    later = started + jump
    after = handler(EVENTS[name](), Context(SimulatedClock(later), later + timedelta(1), "b"))

    assert time.monotonic() - began < SOON
    assert after == before
    assert "imeout" not in capsys.readouterr().out


OPENED = list[str]()
"""What was opened to be written, as long as somebody looks."""


def note_writes(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook, which lasts as long as the process."""
    if event == "open" and isinstance(arguments[2], int):
        path, _, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            OPENED.append(str(path))


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.usefixtures("ground")
def test_no_function_writes_a_file(name: str) -> None:
    """So none minds a /tmp that is full or read-only. What Python keeps of modules it may keep."""
    sys.addaudithook(note_writes)
    now = SystemClock().now()
    OPENED.clear()
    functions.load(name)(EVENTS[name](), Context(SimulatedClock(now), now + timedelta(1), "a"))
    assert [each for each in OPENED if "__pycache__" not in each] == []
