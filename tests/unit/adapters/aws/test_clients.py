"""EC2 and SQS as the adapters ask them, and their errors as ours."""

from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from evenkeel.adapters.aws.auto_scaling import ONCE
from evenkeel.adapters.aws.clients import CONFIG
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.errors import InstancesError, QueueError
from evenkeel.model.notice import WakeUp

URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/wake-ups"
REGION = "eu-central-1"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


@pytest.fixture
def ec2() -> Any:
    return boto3.client("ec2", region_name=REGION, config=CONFIG)


@pytest.fixture
def sqs() -> Any:
    return boto3.client("sqs", region_name=REGION, config=CONFIG)


def test_every_attempt_is_bounded_so_that_all_fit_into_an_invocation() -> None:
    attempt = CONFIG.connect_timeout + CONFIG.read_timeout  # type: ignore[attr-defined] # set by its constructor
    assert 3 * attempt * CONFIG.retries["total_max_attempts"] < 20  # type: ignore[attr-defined] # the same


def test_auto_scaling_is_called_once_because_others_wait() -> None:
    once = ONCE.connect_timeout + ONCE.read_timeout  # type: ignore[attr-defined] # the same
    assert once * ONCE.retries["total_max_attempts"] <= 3  # type: ignore[attr-defined] # the same


def test_instances_are_asked_for_by_filter_and_page_by_page(ec2: Any) -> None:
    def page(instance_id: str) -> dict[str, Any]:
        return {
            "Reservations": [
                {"Instances": [{"InstanceId": instance_id, "State": {"Name": "running"}}]}
            ]
        }

    expected = {
        "Filters": [{"Name": "instance-id", "Values": ["i-1", "i-2"]}],
        "IncludeManagedResources": True,
        "MaxResults": 1_000,
    }
    managed = page("i-1")
    operator = {"Managed": True, "Principal": "eks.amazonaws.com"}
    managed["Reservations"][0]["Instances"][0]["Operator"] = operator
    reserved = page("i-2")
    reserved["Reservations"][0]["Instances"][0]["CapacityReservationId"] = "cr-1"
    with Stubber(ec2) as stub:
        stub.add_response("describe_instances", managed | {"NextToken": "more"}, expected)
        stub.add_response("describe_instances", reserved, expected | {"NextToken": "more"})
        described = Ec2Instances(REGION, ec2).describe(["i-1", "i-2"])
        stub.assert_no_pending_responses()
    assert set(described) == {"i-1", "i-2"}
    assert described["i-1"].private_dns_name == ""
    assert described["i-1"].node_name == "i-1"
    assert described["i-2"].operator == ""
    assert described["i-1"].tags == {}
    assert [described[each].is_reserved for each in ("i-1", "i-2")] == [False, True]


def test_no_filter_gets_more_than_two_hundred_values(ec2: Any) -> None:
    ids = [f"i-{number}" for number in range(450)]
    with Stubber(ec2) as stub:
        for start in (0, 200, 400):
            stub.add_response(
                "describe_instances",
                {"Reservations": []},
                {
                    "Filters": [{"Name": "instance-id", "Values": ids[start : start + 200]}],
                    "IncludeManagedResources": True,
                    "MaxResults": 1_000,
                },
            )
        assert Ec2Instances(REGION, ec2).describe(ids) == {}
        stub.assert_no_pending_responses()


def test_ec2s_refusal_is_an_error_of_ours(ec2: Any) -> None:
    with Stubber(ec2) as stub:
        stub.add_client_error("describe_instances", "UnauthorizedOperation", "not you", 403)
        with pytest.raises(InstancesError, match="not you") as caught:
            Ec2Instances(REGION, ec2).describe(["i-1"])
    assert caught.value.__cause__ is not None


def test_ec2s_silence_is_an_error_of_ours() -> None:
    class Silent:
        def get_paginator(self, _: str) -> Any:
            raise EndpointConnectionError(endpoint_url="https://ec2")

    silent: Any = Silent()
    with pytest.raises(InstancesError, match="https://ec2"):
        Ec2Instances(REGION, silent).describe(["i-1"])


def test_a_client_is_made_for_the_first_question_only(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(service: str, **_: object) -> Any:
        made.append(service)
        raise EndpointConnectionError(endpoint_url="https://nowhere")

    monkeypatch.setattr(boto3, "client", make)
    monkeypatch.setattr(boto3.Session, "client", lambda _, service, **__: make(service))
    instances, queue = Ec2Instances(REGION), SqsQueue(URL, REGION)
    assert instances.describe([]) == {}
    assert made == []
    with pytest.raises(InstancesError):
        instances.describe(["i-1"])
    with pytest.raises(QueueError):
        queue.send(WakeUp(reason="x"))
    assert made == ["ec2", "sqs"]


@pytest.mark.parametrize(("asked", "sent"), [(0.0, 0), (0.2, 1), (1.0, 1), (5.5, 6)])
def test_delays_are_whole_seconds_and_never_shorter_than_asked(
    sqs: Any, asked: float, sent: int
) -> None:
    delay = timedelta(seconds=asked)
    queue = SqsQueue(URL, REGION, sqs)
    with Stubber(sqs) as stub:
        stub.add_response(
            "send_message",
            {},
            {"QueueUrl": URL, "MessageBody": '{"reason":"x"}', "DelaySeconds": sent},
        )
        stub.add_response(
            "change_message_visibility",
            {},
            {"QueueUrl": URL, "ReceiptHandle": "handle", "VisibilityTimeout": sent},
        )
        queue.send(WakeUp(reason="x"), delay)
        queue.postpone("handle", delay)
        stub.assert_no_pending_responses()


def test_sqss_refusal_is_an_error_of_ours(sqs: Any) -> None:
    queue = SqsQueue(URL, REGION, sqs)
    with Stubber(sqs) as stub:
        stub.add_client_error("send_message", "AccessDenied", "not you", 403)
        stub.add_client_error("change_message_visibility", "ReceiptHandleIsInvalid", "stale", 400)
        with pytest.raises(QueueError, match="not you"):
            queue.send(WakeUp(reason="x"))
        with pytest.raises(QueueError, match="stale") as caught:
            queue.postpone("handle", timedelta(seconds=1))
    assert caught.value.__cause__ is not None
