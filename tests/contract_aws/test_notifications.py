"""Who takes what is told of interruptions: the bus, a URL, and the simulated one of both."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import boto3
import msgspec
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from evenkeel.adapters.aws.event_bus import EventBus
from evenkeel.errors import NotificationError
from evenkeel.model.notification import Notification, Phase
from evenkeel.ports import Notifications
from evenkeel_runtime.notifying import UrlNotifications
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.notifications import SimulatedNotifications
from tests.kit import builders
from tests.kit.http_server import Answer, HttpServer, Request
from tests.kit.mocked_aws import mocked

REGION = "eu-central-1"
BEGAN, OVER = builders.notification(), builders.notification(Phase.OVER)


def as_json(*documents: Notification) -> list[Mapping[str, Any]]:
    """As whoever receives them reads them."""
    return [json.loads(msgspec.json.encode(each)) for each in documents]


type Documents = Callable[[], list[Mapping[str, Any]]]


@pytest.fixture
def bus() -> Iterator[tuple[Notifications, Documents]]:
    """Moto's default bus, with a rule that a user may have, and a queue behind it."""
    with mocked():
        events: Any = boto3.client("events", region_name=REGION)
        sqs = boto3.client("sqs", region_name=REGION)
        url = sqs.create_queue(QueueName="told")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        pattern = {
            "source": ["evenkeel"],
            "detail-type": [phase.detail_type for phase in Phase],
            "detail": {"cluster": ["prod"]},
        }
        events.put_rule(Name="told", EventPattern=json.dumps(pattern))
        target = {"Id": "told", "Arn": arn["Attributes"]["QueueArn"]}
        events.put_targets(Rule="told", Targets=[target])

        def documents() -> list[Mapping[str, Any]]:
            messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
            bodies = [json.loads(message["Body"]) for message in messages]
            assert {body["source"] for body in bodies} == {"evenkeel"}
            return [body["detail"] for body in bodies]

        yield EventBus(REGION, events), documents


@pytest.fixture
def url() -> Iterator[tuple[Notifications, Documents]]:
    """A server that takes all."""
    taken: list[Request] = []

    def take(request: Request) -> Answer:
        taken.append(request)
        return Answer(b"ok", 200)

    def documents() -> list[Mapping[str, Any]]:
        assert {each.method for each in taken} == {"POST"}
        assert {each.headers["Content-Type"] for each in taken} == {"application/json"}
        return [each.json for each in taken]

    with HttpServer(take) as server:
        yield UrlNotifications(f"{server.url}/services/T0/B0/secret"), documents


@pytest.fixture
def simulated() -> tuple[Notifications, Documents]:
    """What the stories have."""
    made = SimulatedNotifications(SimulatedClock())
    return made, lambda: as_json(*made.sent)


@pytest.mark.parametrize("taker", ["bus", "url", "simulated"])
def test_each_document_is_taken_as_it_is(taker: str, request: pytest.FixtureRequest) -> None:
    notifications, documents = request.getfixturevalue(taker)
    for document in (BEGAN, OVER):
        notifications.send(document)
    assert documents() == as_json(BEGAN, OVER)


def stubbed() -> tuple[EventBus, Any, Stubber]:
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )
    client: Any = session.client("events")
    stub = Stubber(client)
    stub.activate()
    return EventBus(REGION, client), client, stub


def denied() -> Notifications:
    made, _, stub = stubbed()
    stub.add_client_error("put_events", "AccessDeniedException", http_status_code=400)
    return made


def failed() -> Notifications:
    """The call is answered, and the event is not taken."""
    made, _, stub = stubbed()
    entry = {"ErrorCode": "InternalFailure", "ErrorMessage": "later"}
    stub.add_response("put_events", {"FailedEntryCount": 1, "Entries": [entry]})
    return made


def unreachable() -> Notifications:
    made, client, _ = stubbed()

    def fail(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://events")

    client.meta.events.register("before-call.events", fail)
    return made


def away() -> Notifications:
    made = SimulatedNotifications(SimulatedClock())
    made.fail(NotificationError("away"))
    return made


def nobody() -> Notifications:
    """Nothing listens there."""
    with HttpServer(lambda _: Answer()) as server:
        return UrlNotifications(f"{server.url}/secret")


@pytest.mark.parametrize("make", [denied, failed, unreachable, away, nobody])
def test_what_is_not_taken_is_an_error(make: Callable[[], Notifications]) -> None:
    with pytest.raises(NotificationError):
        make().send(BEGAN)


@pytest.mark.parametrize("status", [302, 404, 429, 500])
def test_any_other_answer_than_a_2xx_is_an_error_that_keeps_the_secret(status: int) -> None:
    elsewhere = {"Location": "http://127.0.0.1:1/elsewhere"}
    with (
        HttpServer(lambda _: Answer(b"no", status, elsewhere)) as server,
        pytest.raises(NotificationError) as caught,
    ):
        UrlNotifications(f"{server.url}/secret").send(BEGAN)
    assert str(caught.value) == f"127.0.0.1 answered {status}"


def test_what_does_not_answer_is_named_by_its_host_alone() -> None:
    with pytest.raises(NotificationError) as caught:
        nobody().send(BEGAN)
    assert str(caught.value) == "127.0.0.1: NewConnectionError"


def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def take(request: Request) -> Answer:
        asked.append(request.target)
        return Answer(b"ok", 200)

    with HttpServer(take) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        UrlNotifications("http://hooks.example.com/secret").send(BEGAN)
    assert asked == ["http://hooks.example.com/secret"]
