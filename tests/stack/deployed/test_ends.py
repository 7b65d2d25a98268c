"""What AWS is asked and told of an instance's end: for a lifecycle hook, and after its deadline."""

import json
from datetime import timedelta

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_hosting.events import schedule_event
from tests.e2e.manifests import deployment, stateful_set
from tests.stack.deployed.conftest import CLUSTER_NAME, HOOK, Deployed, notice, owned_by

pytestmark = pytest.mark.stack

GROUP = "workers"
LEASE = ("coordination.k8s.io/v1", "Lease", "evenkeel-handover", names.SYSTEM_NAMESPACE)
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def test_a_group_waits_for_its_lifecycle_hook_until_the_pods_are_elsewhere(
    stack: Deployed, namespace: str
) -> None:
    stack.ministack.client("autoscaling").put_lifecycle_hook(
        AutoScalingGroupName=GROUP,
        LifecycleHookName=HOOK,
        LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
        HeartbeatTimeout=30,
    )
    doomed, instance_id = stack.add_node(spot=False)
    stack.control_plane.apply(deployment("web", 2), namespace=namespace)
    stack.wait_for_pods_on(doomed, namespace, 2)
    refuge, _ = stack.add_node(spot=False)

    stack.put_event(instance_id, "lifecycle-action-terminate")

    done, wait_for = stack.ministack.compute.done, stack.control_plane.wait_for
    wait_for("a heartbeat", lambda: done("RecordLifecycleActionHeartbeat", InstanceId=instance_id))
    assert done("DescribeLifecycleHooks", AutoScalingGroupName=GROUP)
    stack.wait_for_pods_on(refuge, namespace, 2)
    wait_for(
        "the group to be let go on", lambda: done("CompleteLifecycleAction", InstanceId=instance_id)
    )


def test_a_group_does_not_wait_for_an_instance_that_is_off_and_no_node(stack: Deployed) -> None:
    instance_id = stack.launch(owned_by(CLUSTER_NAME))["InstanceId"]
    stack.ministack.client("ec2").terminate_instances(InstanceIds=[instance_id])

    stack.put_event(instance_id, "lifecycle-action-terminate")

    stack.control_plane.wait_for(
        "the group to be let go on",
        lambda: stack.ministack.compute.done("CompleteLifecycleAction", InstanceId=instance_id),
    )


def test_the_volumes_of_an_instance_that_is_off_are_freed(stack: Deployed, namespace: str) -> None:
    node, instance_id = stack.add_node()
    db = stateful_set("db", 1, grace=300, stop="290s")
    stack.control_plane.apply(db, namespace=namespace)
    stack.wait_for_pods_on(node, namespace, 1)
    stack.ministack.client("ec2").terminate_instances(InstanceIds=[instance_id])

    stack.put_event(instance_id, "state-change-shutting-down")

    def is_freed() -> bool:
        taints = stack.control_plane.get("v1", "Node", node.name)["spec"].get("taints", [])
        return any((t["key"], t.get("value")) == (OUT_OF_SERVICE, "evenkeel") for t in taints)

    stack.control_plane.wait_for("the node to be out of service", is_freed)


@pytest.mark.usefixtures("namespace")
def test_the_mark_of_an_instance_that_lives_on_is_lifted(stack: Deployed) -> None:
    """EC2 is asked a minute after the deadline, which was two minutes after the warning."""
    node, instance_id = stack.add_node()
    late = SystemClock().now() - timedelta(seconds=170)

    stack.send("NoticeQueueUrl", json.dumps(notice(instance_id) | {"time": late.isoformat()}))

    stack.control_plane.wait_for(
        "EC2 to be asked",
        lambda: any(
            "InstanceRunning" in line and node.name in line for line in stack.log_of("Handover")
        ),
    )
    stack.control_plane.wait_for("the node to be usable", lambda: not stack.is_cordoned(node))


@pytest.mark.usefixtures("namespace")
def test_the_schedule_sends_a_wake_up_where_none_is_on_its_way(stack: Deployed) -> None:
    """A node waits for its deadline; its wake-up is lost, with the Lease that has a note of it."""
    client, queue = stack.ministack.client("lambda"), stack.outputs["WakeUpQueueUrl"]
    function = stack.physical_id("HandoverFunction")
    (mapping,) = client.list_event_source_mappings(FunctionName=function)["EventSourceMappings"]
    client.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
    try:
        node, instance_id = stack.add_node()
        stack.put_event(instance_id)
        stack.wait_until_cordoned(node)
        stack.control_plane.wait_for("its wake-up", lambda: any(stack.counts("WakeUpQueueUrl")))
        stack.ministack.client("sqs").purge_queue(QueueUrl=queue)
        stack.control_plane.delete(*LEASE)

        stack.invoke("HandoverFunction", schedule_event(SystemClock().now()))

        assert any(stack.counts("WakeUpQueueUrl"))
    finally:
        client.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)
