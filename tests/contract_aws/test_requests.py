"""What each adapter sends to AWS, member by member, and what botocore's models take for it.

A stub refuses what differs: a member that is missing, or one that is sent besides. EKS' token is
signed and not sent: ``tests/unit/adapters`` has its test.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import boto3
import msgspec
import pytest
from botocore.stub import Stubber

from evenkeel.adapters.aws.auto_scaling import TERMINATING, AutoScaling
from evenkeel.adapters.aws.event_bus import EventBus
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel.model.hook import Hook, HookTimes, Termination
from evenkeel.model.notice import WakeUp
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.poll.sqs import SqsSource
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.iam import REGION, operation
from tests.kit.operations import LAYER, SOURCES, named_in

INSTANCE = "i-0123456789abcdef0"
QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/evenkeel-prod-NoticeQueue"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:WebhookSecret-a1B2c3"
FIRST, SECOND = "a" * 64, "b" * 64
SECONDS = timedelta(seconds=1)
WAITING = Termination(Hook(group="workers", name="evenkeel", token="t" * 36), INSTANCE)
OF_HOOK = {
    "AutoScalingGroupName": "workers",
    "LifecycleHookName": "evenkeel",
    "LifecycleActionToken": "t" * 36,
    "InstanceId": INSTANCE,
}
TOLD = builders.notification()
RECORD: Any = {"receiptHandle": "handle"}

type Calls = Callable[[Any], object]
type Expected = tuple[str, dict[str, Any], dict[str, Any]]
"""An operation's method, its parameters, and the answer."""


def instances(client: Any) -> object:
    return Ec2Instances(REGION, client).describe([INSTANCE])


def hook_times(client: Any) -> object:
    times = AutoScaling(REGION, client).times("workers", "evenkeel")
    assert times == HookTimes(300 * SECONDS, 30_000 * SECONDS)
    return times


def tokens(client: Any) -> object:
    recorder = InMemoryRecorder()
    found = SecretTokens(SECRET, REGION, SimulatedClock(), recorder, client=client)()
    assert found == (FIRST, SECOND), recorder.notes
    return found


REQUESTS: dict[str, tuple[str, Calls, list[Expected]]] = {
    "instances, those of EKS Auto Mode too": (
        "ec2",
        instances,
        [
            (
                "describe_instances",
                {
                    "Filters": [{"Name": "instance-id", "Values": [INSTANCE]}],
                    "IncludeManagedResources": True,
                    "MaxResults": 1_000,
                },
                {"Reservations": []},
            ),
        ],
    ),
    "what is told of an interruption": (
        "events",
        lambda client: EventBus(REGION, client).send(TOLD),
        [
            (
                "put_events",
                {
                    "Entries": [
                        {
                            "Source": "evenkeel",
                            "DetailType": "Evenkeel Interruption Began",
                            "Detail": msgspec.json.encode(TOLD).decode(),
                        }
                    ]
                },
                {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]},
            )
        ],
    ),
    "how long a group waits": (
        "autoscaling",
        hook_times,
        [
            (
                "describe_lifecycle_hooks",
                {"AutoScalingGroupName": "workers", "LifecycleHookNames": ["evenkeel"]},
                {
                    "LifecycleHooks": [
                        {
                            "LifecycleHookName": "evenkeel",
                            "LifecycleTransition": TERMINATING,
                            "HeartbeatTimeout": 300,
                            "GlobalTimeout": 30_000,
                        }
                    ]
                },
            )
        ],
    ),
    "a heartbeat": (
        "autoscaling",
        lambda client: AutoScaling(REGION, client).record_heartbeat(WAITING),
        [("record_lifecycle_action_heartbeat", OF_HOOK, {})],
    ),
    "that a group may go on": (
        "autoscaling",
        lambda client: AutoScaling(REGION, client).complete(WAITING),
        [
            (
                "complete_lifecycle_action",
                {**OF_HOOK, "LifecycleActionResult": "CONTINUE"},
                {},
            )
        ],
    ),
    "a wake-up": (
        "sqs",
        lambda client: SqsQueue(QUEUE, REGION, client).send(WakeUp(reason="r"), 1.5 * SECONDS),
        [
            (
                "send_message",
                {"QueueUrl": QUEUE, "MessageBody": '{"reason":"r"}', "DelaySeconds": 2},
                {},
            )
        ],
    ),
    "a message that comes again later": (
        "sqs",
        lambda client: SqsQueue(QUEUE, REGION, client).postpone("handle", 5 * SECONDS),
        [
            (
                "change_message_visibility",
                {"QueueUrl": QUEUE, "ReceiptHandle": "handle", "VisibilityTimeout": 5},
                {},
            )
        ],
    ),
    "a token and the one before it": (
        "secretsmanager",
        tokens,
        [
            (
                "get_secret_value",
                {"SecretId": SECRET, "VersionStage": "AWSCURRENT"},
                {"SecretString": FIRST},
            ),
            (
                "get_secret_value",
                {"SecretId": SECRET, "VersionStage": "AWSPREVIOUS"},
                {"SecretString": SECOND},
            ),
        ],
    ),
    "what a queue's owner has set": (
        "sqs",
        lambda client: SqsSource(client, QUEUE).look(),
        [
            (
                "get_queue_attributes",
                {"QueueUrl": QUEUE, "AttributeNames": ["All"]},
                {"Attributes": {"VisibilityTimeout": "20", "MessageRetentionPeriod": "300"}},
            )
        ],
    ),
    "messages": (
        "sqs",
        lambda client: SqsSource(client, QUEUE).receive(),
        [
            (
                "receive_message",
                {
                    "QueueUrl": QUEUE,
                    "MaxNumberOfMessages": 10,
                    "WaitTimeSeconds": 5,
                    "MessageSystemAttributeNames": ["All"],
                },
                {},
            )
        ],
    ),
    "messages that are done": (
        "sqs",
        lambda client: SqsSource(client, QUEUE).delete([RECORD]),
        [
            (
                "delete_message_batch",
                {"QueueUrl": QUEUE, "Entries": [{"Id": "0", "ReceiptHandle": "handle"}]},
                {"Successful": [], "Failed": []},
            )
        ],
    ),
    "messages that are given back": (
        "sqs",
        lambda client: SqsSource(client, QUEUE).give_back([RECORD]),
        [
            (
                "change_message_visibility_batch",
                {
                    "QueueUrl": QUEUE,
                    "Entries": [
                        {"Id": "0", "ReceiptHandle": "handle", "VisibilityTimeout": 0},
                    ],
                },
                {"Successful": [], "Failed": []},
            )
        ],
    ),
}


@pytest.mark.parametrize("request_", REQUESTS)
def test_aws_is_asked_with_these_members_and_no_others(request_: str) -> None:
    service, call, expected = REQUESTS[request_]
    client: Any = boto3.client(
        service,  # type: ignore[call-overload]  # whichever service
        region_name=REGION,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    with Stubber(client) as stub:
        for method, parameters, answer in expected:
            stub.add_response(method, answer, parameters)
        call(client)
        stub.assert_no_pending_responses()


def test_every_operation_of_the_functions_and_of_poll_is_among_them() -> None:
    shown = {
        (service, operation(service, method))
        for service, _, expected in REQUESTS.values()
        for method, _, _ in expected
    }
    assert shown == named_in(LAYER, SOURCES / "evenkeel_runtime")
