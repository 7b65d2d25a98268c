"""What each function's role lets it do in AWS: all that it does, and no right that it can spare.

moto goes by the roles' policies: by their actions, and for queues by their resources, too. No
function calls what Lambda does with its role: feed it from its queue, write its log, put it into a
network.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.core import set_initial_no_auth_action_count

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel.adapters.clock import SystemClock
from evenkeel.errors import InstancesError, QueueError, UnavailableError
from evenkeel.model.hook import Hook, Termination
from evenkeel.model.notice import WakeUp
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit.auto_scaling import StubAutoScaling
from tests.kit.mocked_aws import mocked
from tests.stack.cloudformation import ACCOUNT, REGION, deployed
from tests.stack.sets import CLUSTER, OF_LAMBDA

REFUSED = r"AccessDenied|Unauthorized"
SECRET = "a" * 64
INSTANCE = "i-1234567890abcdef0"
HOOK = Hook(group="workers", name="evenkeel", token="87654321-4321-4321-4321-210987654321")
TERMINATION = Termination(HOOK, INSTANCE)

type Right = tuple[str, str]


@dataclass(frozen=True)
class Account:
    """Everything of the stack that its functions call, in moto."""

    handles: Mapping[str, str]  # of a message that was received, by its queue's URL
    secret: str
    groups: StubAutoScaling

    @property
    def notices(self) -> str:
        return next(iter(self.handles))

    @property
    def wake_ups(self) -> str:
        return next(reversed(list(self.handles)))

    def arn(self, resource: str) -> str:
        """The ARN of what the template calls so.

        Of a secret's calls moto does not know which one they are for.
        """
        arns = {
            "NoticeQueue.Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:notices",
            "WakeUpQueue.Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:wake-ups",
            "WebhookSecret.Id": "*",
        }
        return arns.get(resource, resource)


def interruption(account: Account, client: Callable[[str], Any]) -> None:
    Ec2Instances(REGION, client("ec2")).describe([INSTANCE])
    SqsQueue(account.wake_ups, REGION, client("sqs")).send(WakeUp(reason="test"))
    handle = account.handles[account.notices]
    SqsQueue(account.notices, REGION, client("sqs")).postpone(handle, timedelta(seconds=1))
    actions = AutoScaling(REGION, account.groups.client())
    actions.times("workers", "evenkeel")
    actions.complete(TERMINATION)


def handover(account: Account, client: Callable[[str], Any]) -> None:
    Ec2Instances(REGION, client("ec2")).describe([INSTANCE])
    wake_ups = SqsQueue(account.wake_ups, REGION, client("sqs"))
    wake_ups.send(WakeUp(reason="test"))
    wake_ups.postpone(account.handles[account.wake_ups], timedelta(seconds=1))
    actions = AutoScaling(REGION, account.groups.client())
    actions.record_heartbeat(TERMINATION)
    actions.complete(TERMINATION)


def restore(account: Account, client: Callable[[str], Any]) -> None:
    SqsQueue(account.wake_ups, REGION, client("sqs")).send(WakeUp(reason="test"))


def placement(account: Account, client: Callable[[str], Any]) -> None:
    recorder = InMemoryRecorder()
    secrets = client("secretsmanager")
    tokens = SecretTokens(account.secret, REGION, SystemClock(), recorder, client=secrets)
    if not tokens():
        raise UnavailableError(str(recorder.notes))


FUNCTIONS = {
    "InterruptionRole": interruption,
    "HandoverRole": handover,
    "RestoreRole": restore,
    "PlacementRole": placement,
}


def own(role: str) -> list[Right]:
    """The rights of a role that its function itself makes use of."""
    stack = deployed(**CLUSTER, Webhook="true", LifecycleHook=HOOK.name)
    return [(action, each) for action, each in stack.statements(role) if action not in OF_LAMBDA]


def refusable(role: str) -> list[Right]:
    """Those that moto can refuse: it knows no lifecycle actions, and no zonal shifts."""
    unknown = ("autoscaling:", "arc-zonal-shift:")
    return [right for right in own(role) if not right[0].startswith(unknown)]


@pytest.fixture
def account() -> Iterator[Account]:
    with mocked():
        sqs = boto3.client("sqs", region_name=REGION)
        handles = dict[str, str]()
        for name in ("notices", "wake-ups"):
            url = sqs.create_queue(QueueName=name)["QueueUrl"]
            sqs.send_message(QueueUrl=url, MessageBody="{}")
            (received,) = sqs.receive_message(QueueUrl=url)["Messages"]
            handles[url] = received["ReceiptHandle"]
        secrets = boto3.client("secretsmanager", region_name=REGION)
        secret = secrets.create_secret(Name="webhook", SecretString=SECRET)["ARN"]
        groups = StubAutoScaling()
        groups.put_hook(HOOK.group, HOOK.name, 300, 3_000)
        groups.begin(HOOK.group, HOOK.name, HOOK.token, INSTANCE)
        yield Account(handles=handles, secret=secret, groups=groups)


def client_of(account: Account, rights: list[Right]) -> Callable[[str], Any]:
    """Clients of somebody with a role that has these rights and no others."""
    iam = boto3.client("iam", region_name=REGION)
    trust = {"Version": "2012-10-17", "Statement": []}
    role = iam.create_role(RoleName="function", AssumeRolePolicyDocument=json.dumps(trust))
    statements = [
        {"Effect": "Allow", "Action": action, "Resource": account.arn(resource)}
        for action, resource in rights
    ]
    if statements:
        policy = {"Version": "2012-10-17", "Statement": statements}
        iam.put_role_policy(
            RoleName="function", PolicyName="own", PolicyDocument=json.dumps(policy)
        )
    sts = boto3.client("sts", region_name=REGION)
    session = sts.assume_role(RoleArn=role["Role"]["Arn"], RoleSessionName="function")
    keys = session["Credentials"]
    there: Any = boto3.Session(
        region_name=REGION,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )
    found: Callable[[str], Any] = there.client
    return found


def called(role: str, account: Account, rights: list[Right]) -> None:
    """Everything that a function calls; raises if something is refused."""
    client = client_of(account, rights)
    set_initial_no_auth_action_count(0)(FUNCTIONS[role])(account, client)


@pytest.mark.parametrize("role", FUNCTIONS)
def test_a_function_may_do_all_that_it_does(role: str, account: Account) -> None:
    called(role, account, own(role))
    hooks = {f"autoscaling:{asked['Action']}" for asked in account.groups.requests}
    assert hooks == {action for action, _ in own(role) if action.startswith("autoscaling:")}


@pytest.mark.parametrize(
    ("role", "right"), [(role, right) for role in FUNCTIONS for right in refusable(role)]
)
def test_without_one_right_something_is_refused(role: str, right: Right, account: Account) -> None:
    others = [each for each in own(role) if each != right]
    with pytest.raises((UnavailableError, QueueError, InstancesError), match=REFUSED):
        called(role, account, others)


@pytest.mark.parametrize(
    ("role", "action", "resource", "another"),
    [
        ("InterruptionRole", "sqs:SendMessage", "WakeUpQueue.Arn", "NoticeQueue.Arn"),
        ("RestoreRole", "sqs:SendMessage", "WakeUpQueue.Arn", "NoticeQueue.Arn"),
    ],
)
def test_a_right_is_one_to_its_own_queue(
    role: str, action: str, resource: str, another: str, account: Account
) -> None:
    rights = [right for right in own(role) if right != (action, resource)]
    with pytest.raises(QueueError, match=REFUSED):
        called(role, account, [*rights, (action, another)])
