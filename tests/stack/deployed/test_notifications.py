"""What is told of an interruption comes from the deployed function to a rule of the bus."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel.model.interruption import QUIET
from evenkeel.model.notification import SOURCE
from evenkeel_hosting.events import schedule_event
from tests.e2e.manifests import deployment
from tests.stack.deployed.conftest import CLUSTER_NAME, Deployed

pytestmark = pytest.mark.stack

RULE = "a-rule-of-somebodys-own"
LEASE = ("coordination.k8s.io/v1", "Lease", "evenkeel-handover", names.SYSTEM_NAMESPACE)

type Told = Callable[[], Sequence[Mapping[str, Any]]]


@pytest.fixture
def told(stack: Deployed) -> Iterator[Told]:
    """The events that a rule of somebody's own has put into a queue so far."""
    events, sqs = stack.ministack.client("events"), stack.ministack.client("sqs")
    url = sqs.create_queue(QueueName=RULE)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    pattern = {"source": [SOURCE], "detail": {"cluster": [CLUSTER_NAME]}}
    events.put_rule(Name=RULE, EventPattern=json.dumps(pattern))
    target = {"Id": "told", "Arn": arn["Attributes"]["QueueArn"]}
    events.put_targets(Rule=RULE, Targets=[target])
    arrived: list[Mapping[str, Any]] = []

    def receive() -> Sequence[Mapping[str, Any]]:
        for message in sqs.receive_message(QueueUrl=url).get("Messages", []):
            arrived.append(json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return arrived

    yield receive
    events.remove_targets(Rule=RULE, Ids=["told"])
    events.delete_rule(Name=RULE)


def test_an_event_is_on_the_bus_when_an_interruption_begins_and_one_when_it_is_over(
    stack: Deployed, namespace: str, told: Told
) -> None:
    doomed, instance_id = stack.add_node()
    stack.control_plane.apply(deployment("web", 2), namespace=namespace)
    stack.wait_for_pods_on(doomed, namespace, 2)
    refuge, _ = stack.add_node(spot=False)
    forget(stack)

    stack.put_event(instance_id)

    def began() -> Mapping[str, Any] | None:
        ours = (e for e in told() if doomed.name in e["detail"]["node_names"])
        return next(ours, None)

    stack.control_plane.wait_for("the first event", lambda: began() is not None)
    stack.wait_for_pods_on(refuge, namespace, 2)
    stack.control_plane.delete_node(doomed.name)
    wait_until_free(stack)
    first = began()
    assert first is not None
    assert first["detail-type"] == "Evenkeel Interruption Began"
    assert first["detail"]["text"].startswith(f"{CLUSTER_NAME}: an interruption began: ")

    make_older(stack, 2 * QUIET)
    stack.invoke("HandoverFunction", schedule_event(SystemClock().now()))

    def over() -> Mapping[str, Any] | None:
        return next((e for e in told() if e["detail-type"] == "Evenkeel Interruption Over"), None)

    stack.control_plane.wait_for("the second event", lambda: over() is not None)
    last = over()
    assert last is not None
    assert last["detail"]["pods"] == 2
    assert last["detail"]["late"] == last["detail"]["below"] == 0


def forget(stack: Deployed) -> None:
    """Let the interruption be over that tests before this one began."""
    wait_until_free(stack)
    if lease_of(stack):
        nothing = {"metadata": {"annotations": {names.INTERRUPTION: None}}}
        stack.control_plane.merge(*LEASE[:3], nothing, LEASE[3])


def wait_until_free(stack: Deployed) -> None:
    """Wait until no reconciler has the Lease."""
    stack.control_plane.wait_for(
        "the Lease to be free",
        lambda: not lease_of(stack).get("spec", {}).get("holderIdentity"),
    )


def lease_of(stack: Deployed) -> Mapping[str, Any]:
    """The reconciler's Lease; empty without one."""
    found = stack.control_plane.items(*LEASE[:2], LEASE[3])
    return next((each for each in found if each["metadata"]["name"] == LEASE[2]), {})


def make_older(stack: Deployed, by: timedelta) -> None:
    """Let what the Lease has of an interruption have happened so much sooner."""
    note = stack.control_plane.get(*LEASE)["metadata"]["annotations"][names.INTERRUPTION]
    account = json.loads(note)
    for key in ("began_at", "active_at", "until"):
        at = datetime.fromisoformat(account["open"][key])
        account["open"][key] = (at - by).isoformat()
    changed = {"metadata": {"annotations": {names.INTERRUPTION: json.dumps(account)}}}
    stack.control_plane.merge(*LEASE[:3], changed, LEASE[3])
