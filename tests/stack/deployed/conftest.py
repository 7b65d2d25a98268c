"""The stack, built and deployed, beside a real control plane that knows its functions' roles."""

import base64
import json
import secrets
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.adapters.clock import SystemClock
from evenkeel.model.node import Node
from evenkeel_sandbox.simulator.api.objects import is_ready, node_of
from tests.e2e.witness import Witness
from tests.kit.control_plane import ROOT, ControlPlane, Options
from tests.stack.cloudformation import REGION, TEMPLATE
from tests.stack.deployed.installer import Installer, installing
from tests.stack.deployed.ministack import SAM, Ministack, deploy, launched
from tests.stack.deployed.process import plain_environment
from tests.stack.deployed.verifier import Verifier

BEFORE = Path(__file__).with_name("before") / "template.yaml"
"""The template of the version before, which is upgraded."""
TRANSLATING = 60.0
CLUSTER_NAME = "deployed"
STACK = "evenkeel"
TOPIC = "arn:aws:sns:eu-central-1:000000000000:pager"
REPLAYS = "evenkeel.replay"
HOOK = "evenkeel"
GATE_PATIENCE = timedelta(seconds=45)


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployed stack, for a cluster of that name. ``outputs`` are CloudFormation's."""

    name: str
    cluster_name: str
    ministack: Ministack
    control_plane: ControlPlane
    outputs: Mapping[str, str]

    def launch(self, tags: Mapping[str, str], *, spot: bool = True) -> Mapping[str, Any]:
        """Run an instance; answers it as DescribeInstances does."""
        ec2 = self.ministack.client("ec2")
        answer = ec2.run_instances(
            ImageId="ami-12c6146b",
            InstanceType="m5.large",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[
                {
                    "ResourceType": "instance",
                    "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
                }
            ],
        )
        instance: Mapping[str, Any] = answer["Instances"][0]
        if spot:
            self.ministack.compute.spot.add(instance["InstanceId"])
        return instance

    def add_node(
        self, *, spot: bool = True, tags: Mapping[str, str] | None = None
    ) -> tuple[Node, str]:
        """Add a node of a running instance, named as EKS names it; the node and the instance.

        Its tags are those of the stack's cluster, unless others are given.
        """
        instance = self.launch(owned_by(self.cluster_name) if tags is None else tags, spot=spot)
        zone = instance["Placement"]["AvailabilityZone"]
        instance_id: str = instance["InstanceId"]
        node = self.control_plane.add_node(
            instance["PrivateDnsName"], spot=spot, provider_id=f"aws:///{zone}/{instance_id}"
        )
        return node, instance_id

    def put_event(self, instance_id: str, sample: str = "interruption-warning-terminate") -> None:
        """Put a sample event about an instance on the bus, from the source of replays."""
        event = notice(instance_id, sample)
        self.put(
            Source=REPLAYS,
            DetailType=event["detail-type"],
            Detail=json.dumps(event["detail"]),
            Resources=event["resources"],
            Time=SystemClock().now(),
        )

    def put(self, **entry: Any) -> None:
        """Put an event on the bus."""
        answer = self.ministack.client("events").put_events(Entries=[entry])
        assert answer["FailedEntryCount"] == 0, answer

    def send(self, output: str, *bodies: str) -> None:
        """Send messages to a queue, in one batch."""
        entries = [{"Id": str(i), "MessageBody": body} for i, body in enumerate(bodies)]
        sqs = self.ministack.client("sqs")
        answer = sqs.send_message_batch(QueueUrl=self.outputs[output], Entries=entries)
        assert not answer.get("Failed"), answer

    @property
    def token(self) -> str:
        """The webhook's current token, out of the stack's secret."""
        secret = self.ministack.client("secretsmanager").get_secret_value(
            SecretId=self.outputs["WebhookSecretArn"]
        )
        return str(secret["SecretString"])

    def rotate_token(self) -> None:
        """Give the webhook a new token, and its function new environments, which read it."""
        self.ministack.client("secretsmanager").put_secret_value(
            SecretId=self.outputs["WebhookSecretArn"], SecretString=secrets.token_hex(32)
        )
        self.ministack.client("lambda").update_function_configuration(
            FunctionName=self.physical_id("PlacementFunction"), MemorySize=1769
        )

    def counts(self, output: str) -> tuple[int, int]:
        """How many messages of a queue are visible, and how many are not or not yet."""
        attributes = self.ministack.client("sqs").get_queue_attributes(
            QueueUrl=self.outputs[output], AttributeNames=["All"]
        )["Attributes"]
        return int(attributes["ApproximateNumberOfMessages"]), (
            int(attributes["ApproximateNumberOfMessagesNotVisible"])
            + int(attributes["ApproximateNumberOfMessagesDelayed"])
        )

    def wait_until_done(self, output: str = "NoticeQueueUrl") -> None:
        """Wait until a queue holds no message."""
        self.control_plane.wait_for(f"{output} to be empty", lambda: self.counts(output) == (0, 0))

    def wait_until_cordoned(self, node: Node) -> None:
        """Wait until nothing is placed on a node any more."""
        self.control_plane.wait_for(f"{node.name} to be cordoned", lambda: self.is_cordoned(node))

    def wait_for_pods_on(self, node: Node, namespace: str, number: int) -> None:
        """Wait until a namespace has exactly so many pods, all of them Ready on this node."""

        def are_there() -> bool:
            pods = self.control_plane.items("v1", "Pod", namespace)
            there = [pod for pod in pods if is_ready(pod) and node_of(pod) == node.name]
            return len(there) == len(pods) == number

        self.control_plane.wait_for(f"{number} pods on {node.name}", are_there)

    def log_of(self, function: str) -> Sequence[str]:
        """What a function logged."""
        answer = self.ministack.client("logs").filter_log_events(
            logGroupName=self.physical_id(f"{function}Logs")
        )
        return [event["message"] for event in answer["events"]]

    def physical_id(self, logical_id: str) -> str:
        """What the stack called one of its resources."""
        found = self.ministack.client("cloudformation").describe_stack_resource(
            StackName=self.name, LogicalResourceId=logical_id
        )
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def invoke(self, function: str, event: Mapping[str, Any]) -> None:
        """Invoke a function of the stack, and wait until it has answered."""
        answer = self.ministack.client("lambda").invoke(
            FunctionName=self.physical_id(function), Payload=json.dumps(event)
        )
        assert "FunctionError" not in answer, answer["Payload"].read()

    def is_cordoned(self, node: Node) -> bool:
        """Whether nothing is placed on a node any more."""
        return bool(self.control_plane.get("v1", "Node", node.name)["spec"].get("unschedulable"))


def owned_by(cluster_name: str) -> Mapping[str, str]:
    """The tags of a cluster's instances."""
    return {f"kubernetes.io/cluster/{cluster_name}": "owned"}


def notice(instance_id: str, sample: str = "interruption-warning-terminate") -> dict[str, Any]:
    """A sample event about an instance, given now."""
    event: dict[str, Any] = json.loads((ROOT / "events" / f"{sample}.json").read_text())
    event |= {"id": str(uuid.uuid4()), "time": SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")}
    key = "EC2InstanceId" if "EC2InstanceId" in event["detail"] else "instance-id"
    event["detail"][key] = instance_id
    return event


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What looks back at all calls comes last."""
    items.sort(key=lambda item: item.path.name == "test_used_rights.py")


@pytest.fixture(scope="session")
def translations() -> dict[str, dict[str, Any]]:
    """All resources that any parameters make: conditions are CloudFormation's to judge.

    By the template's path: those of today's, and of the version before.
    """
    done = subprocess.run(
        [SAM, Path(__file__).with_name("translated.py"), REGION, TEMPLATE, BEFORE],
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=TRANSLATING,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="session")
def translated(translations: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return translations[str(TEMPLATE)]


@pytest.fixture(scope="session")
def translated_before(translations: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return translations[str(BEFORE)]


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ministack]:
    with launched(tmp_path_factory.mktemp("ministack")) as started:
        yield started


@pytest.fixture(scope="session")
def installer(
    ministack: Ministack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installer]:
    with installing(ministack, tmp_path_factory.mktemp("installer")) as made:
        yield made


@pytest.fixture(scope="session")
def verifier(ministack: Ministack) -> Iterator[Verifier]:
    with Verifier(ministack.url, CLUSTER_NAME) as started:
        yield started


@contextmanager
def taking_tokens(
    verifier: Verifier, folder: Path, request: pytest.FixtureRequest
) -> Iterator[ControlPlane]:
    """A real control plane that takes EKS's tokens."""
    config = verifier.write_config(folder)
    options = Options(
        kube=request.config.getoption("--kube"),
        api_server_flags=(
            f"authentication-token-webhook-config-file={config}",
            "authentication-token-webhook-version=v1",
            "authentication-token-webhook-cache-ttl=2s",  # a role may lose its access
        ),
    )
    with ControlPlane.launch(options) as started:
        yield started


@contextmanager
def knowing(
    verifier: Verifier, folder: Path, request: pytest.FixtureRequest
) -> Iterator[ControlPlane]:
    """The same, with the rights of the manifests."""
    with taking_tokens(verifier, folder, request) as started:
        started.kubectl("apply", "-k", str(ROOT / "manifests" / "rbac"))
        yield started


def endpoint_of(control_plane: ControlPlane, cluster_name: str) -> Mapping[str, str]:
    """A cluster as DescribeCluster would answer it, as a stack's parameters."""
    (entry,) = yaml.safe_load(control_plane.kubeconfig.read_text())["clusters"]
    cluster = entry["cluster"]
    authority = (
        cluster.get("certificate-authority-data")
        or base64.b64encode(Path(cluster["certificate-authority"]).read_bytes()).decode()
    )
    return {
        "ClusterName": cluster_name,
        "ClusterEndpoint": cluster["server"],
        "ClusterCertificateAuthority": authority,
    }


def stood_up(
    name: str,
    endpoint: Mapping[str, str],
    ministack: Ministack,
    verifier: Verifier,
    token: Mapping[str, str],
) -> Mapping[str, str]:
    """Deploy a stack that acts; its outputs. ``token`` are the parameters of the webhook's.

    Its roles are mapped as aws-auth does: ministack has no access entries.
    """
    parameters = {
        "Mode": "act",
        "ReplaySource": REPLAYS,
        "LifecycleHook": HOOK,
        "AccessEntries": "false",
        "AlarmTopic": TOPIC,
        "Gate": "managed",
        "GatePatienceSeconds": f"{GATE_PATIENCE.total_seconds():.0f}",
    }
    outputs = deploy(ministack, name, {**endpoint, **parameters, **token})
    for function in ("Interruption", "Handover", "Restore", "Placement"):
        role = outputs[f"{function}RoleArn"].rpartition("/")[2]
        verifier.groups[role] = f"evenkeel-{function.lower()}"
    return outputs


@pytest.fixture(scope="session")
def control_plane(
    verifier: Verifier, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ControlPlane]:
    with knowing(verifier, tmp_path_factory.mktemp("authenticator"), request) as started:
        yield started


@pytest.fixture
def witness(control_plane: ControlPlane, namespace: str) -> Iterator[Witness]:
    with Witness(control_plane, namespace, SystemClock()) as watching:
        yield watching


@pytest.fixture(scope="session")
def endpoint(control_plane: ControlPlane) -> Mapping[str, str]:
    return endpoint_of(control_plane, CLUSTER_NAME)


@pytest.fixture(scope="session")
def stack(
    ministack: Ministack,
    verifier: Verifier,
    control_plane: ControlPlane,
    endpoint: Mapping[str, str],
) -> Deployed:
    outputs = stood_up(STACK, endpoint, ministack, verifier, {})
    made = Deployed(STACK, CLUSTER_NAME, ministack, control_plane, outputs)
    made.rotate_token()  # ministack's first one has punctuation, which the template rules out
    return made
