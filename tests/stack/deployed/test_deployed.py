"""From an event on the bus to pods that run elsewhere, through everything that is deployed."""

import io
import json
import zipfile

import pytest

from evenkeel.model import names
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.witness import Witness
from tests.stack.deployed.conftest import CLUSTER_NAME, Deployed, notice, owned_by
from tests.stack.deployed.ministack import BUILT

pytestmark = pytest.mark.stack

TRIES = 3
LAYER = BUILT.parent / "Layer" / "python"
WITHOUT_LAYER = """
from importlib.util import find_spec
def handler(names, context):
    return [name for name in names if find_spec(name)]
"""


def test_a_deployed_function_finds_no_package_that_its_layer_lacks(stack: Deployed) -> None:
    packages = [path.name for path in LAYER.iterdir() if (path / "__init__.py").exists()]
    assert "botocore" in packages
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("app.py", WITHOUT_LAYER)
    client = stack.ministack.client("lambda")
    client.create_function(
        FunctionName="without-layer",
        Runtime="python3.13",
        Timeout=60,
        Handler="app.handler",
        Role=stack.outputs["RestoreRoleArn"],
        Code={"ZipFile": code.getvalue()},
    )
    answer = client.invoke(FunctionName="without-layer", Payload=json.dumps(packages))
    assert json.loads(answer["Payload"].read()) == []


def test_a_malformed_wake_up_is_acknowledged_and_logged(stack: Deployed) -> None:
    # First of all: once a node is doomed, its own wake-up stays in the queue for two minutes.
    stack.send("WakeUpQueueUrl", "no wake-up")
    stack.control_plane.wait_for(
        "a line in the log",
        lambda: any("WakeUpsMalformed" in line for line in stack.log_of("Handover")),
    )
    stack.wait_until_done("WakeUpQueueUrl")
    assert stack.counts("WakeUpDeadLettersUrl") == (0, 0)


def test_an_event_on_the_bus_moves_the_pods_and_nothing_dips(
    stack: Deployed, namespace: str, witness: Witness
) -> None:
    control_plane = stack.control_plane
    doomed, instance_id = stack.add_node()
    workloads = [deployment("web", 3), deployment("single", 1), budget("single", minAvailable=1)]
    control_plane.apply(*workloads, namespace=namespace)
    control_plane.wait_for(
        "all pods to be ready",
        lambda: (
            witness.count("web", selector("web")) == 3
            and witness.count("single", selector("single")) == 1
        ),
    )
    refuge, _ = stack.add_node(spot=False)

    stack.put_event(instance_id)

    stack.wait_until_cordoned(doomed)
    node = control_plane.get("v1", "Node", doomed.name)
    assert node["metadata"]["labels"][names.DOOMED] == "interruption"
    stack.wait_for_pods_on(refuge, namespace, 4)
    assert witness.lowest("web") == 3
    assert witness.lowest("single") == 1


@pytest.mark.usefixtures("namespace")
def test_another_clusters_instance_is_acknowledged_and_left_alone(stack: Deployed) -> None:
    theirs, instance_id = stack.add_node(tags=owned_by("another"))
    ours, marker = stack.add_node()
    stack.put_event(instance_id)
    stack.put_event(marker)
    stack.wait_until_cordoned(ours)
    stack.wait_until_done()
    assert not stack.is_cordoned(theirs)


@pytest.mark.usefixtures("namespace")
def test_an_on_demand_node_is_left_alone_when_a_notice_is_wrong_or_forged(
    stack: Deployed,
) -> None:
    on_demand, instance_id = stack.add_node(spot=False)
    spot, marker = stack.add_node()
    stack.put_event(instance_id)
    stack.put_event(marker)
    stack.wait_until_cordoned(spot)
    stack.wait_until_done()
    assert not stack.is_cordoned(on_demand)
    assert any("NotSpot" in line for line in stack.log_of("Interruption"))


@pytest.mark.usefixtures("namespace")
def test_a_poison_message_becomes_a_dead_letter_and_the_rest_of_its_batch_is_done(
    stack: Deployed,
) -> None:
    node, instance_id = stack.add_node()
    sqs = stack.ministack.client("sqs")
    queue = stack.outputs["NoticeQueueUrl"]
    asked = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["RedrivePolicy"])
    policy = json.loads(asked["Attributes"]["RedrivePolicy"])
    # As many tries as the template gives would take minutes.
    fewer = json.dumps(policy | {"maxReceiveCount": TRIES})
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"RedrivePolicy": fewer})

    stack.send("NoticeQueueUrl", "no JSON", json.dumps(notice(instance_id)))

    stack.wait_until_cordoned(node)
    stack.control_plane.wait_for(
        "the other to be a dead letter", lambda: stack.counts("NoticeDeadLettersUrl")[0] == 1
    )
    assert stack.counts("NoticeQueueUrl") == (0, 0)
    (letter,) = sqs.receive_message(QueueUrl=stack.outputs["NoticeDeadLettersUrl"])["Messages"]
    assert letter["Body"] == "no JSON"


def test_an_instance_without_a_node_is_no_dead_letter(stack: Deployed) -> None:
    instance = stack.launch(owned_by(CLUSTER_NAME))
    stack.ministack.client("ec2").terminate_instances(InstanceIds=[instance["InstanceId"]])
    before = stack.counts("NoticeDeadLettersUrl")
    stack.put_event(instance["InstanceId"], "state-change-shutting-down")
    stack.wait_until_done()
    assert stack.counts("NoticeDeadLettersUrl") == before
