"""Connections to AWS: kept while they are used, and given up where AWS may have forgotten them."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from evenkeel.adapters.aws import clients
from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.adapters.aws.event_bus import EventBus
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel.model.hook import Hook, Termination
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.api_server import HandClock
from tests.kit.forgetful import Forgetful

REGION = "eu-central-1"
TOKEN = "a" * 64
TERMINATION = Termination(Hook(group="g", name="h", token="t" * 36), "i-0123456789abcdef0")
SOON = 0.5


def xml(action: str, namespace: str, inner: str) -> bytes:
    return f'<{action}Response xmlns="{namespace}">{inner}</{action}Response>'.encode()


type Ask = Callable[[], object]
"""Asks a service once, and fails where it does not answer."""


def ec2() -> Ask:
    instances = Ec2Instances(REGION)
    return lambda: instances.describe(["i-1"])


def sqs() -> Ask:
    queue = SqsQueue("https://queue.example/123456789012/wake-ups", REGION)
    return lambda: queue.postpone("handle", timedelta())


def auto_scaling() -> Ask:
    actions = AutoScaling(REGION)
    return lambda: actions.complete(TERMINATION)


def bus() -> Ask:
    notifications = EventBus(REGION)
    return lambda: notifications.send(builders.notification())


def secret() -> Ask:
    clock, recorder = HandClock(), InMemoryRecorder()
    tokens = SecretTokens("webhook", REGION, clock, recorder)

    def ask() -> None:
        clock.advance(timedelta(minutes=2))
        assert set(tokens()) == {TOKEN}
        assert recorder.notes == []

    return ask


ANSWERS: dict[Callable[[], Ask], bytes] = {
    ec2: xml("DescribeInstances", "http://ec2.amazonaws.com/doc/2016-11-15/", "<reservationSet/>"),
    sqs: b"{}",
    auto_scaling: xml(
        "CompleteLifecycleAction",
        "http://autoscaling.amazonaws.com/doc/2011-01-01/",
        "<CompleteLifecycleActionResult/>",
    ),
    bus: b'{"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}',
    secret: f'{{"Name": "webhook", "SecretString": "{TOKEN}"}}'.encode(),
}


@pytest.fixture(params=ANSWERS, ids=lambda make: make.__name__)
def service(request: pytest.FixtureRequest) -> Callable[[], Ask]:
    """One of the services."""
    found: Callable[[], Ask] = request.param
    return found


@pytest.fixture
def aws(service: Callable[[], Ask], monkeypatch: pytest.MonkeyPatch) -> Iterator[Forgetful]:
    """It answers what is asked of the service."""
    with Forgetful(lambda _: ANSWERS[service]) as server:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        yield server


def test_one_connection_serves_calls_that_follow_each_other(
    aws: Forgetful, service: Callable[[], Ask]
) -> None:
    ask = service()
    for _ in range(3):
        ask()
    assert aws.connections == 1


def test_a_call_after_a_freeze_waits_for_no_connection_from_before_it(
    aws: Forgetful, service: Callable[[], Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = service()
    ask()
    aws.forget()
    monkeypatch.setattr(clients, "IDLE", timedelta())
    began = time.monotonic()
    ask()
    assert time.monotonic() - began < SOON
