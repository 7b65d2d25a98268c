"""EC2 and SQS take connections and say nothing: the function that marks nodes ends by itself."""

import json
import time
from collections.abc import Iterator

import pytest

from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.handlers.interruption import build
from evenkeel.ports import Ports
from evenkeel.settings import InterruptionSettings, Mode
from evenkeel_hosting.events import batch_event
from tests.kit.api_server import hang, serving
from tests.stack.cloudformation import load
from tests.stories.interruption.scene import CLUSTER, Scene, warning

pytestmark = pytest.mark.nightly

REGION = "eu-central-1"
QUEUE = "https://sqs.example/123456789012/notices"
BATCH = range(1, 11)


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each service is this one, which never answers."""
    with serving() as server:
        server.script(always=hang)
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield


def test_a_batch_is_marked_and_given_back_before_the_function_is_stopped() -> None:
    scene = Scene(nodes=BATCH)
    queue = SqsQueue(QUEUE, REGION)
    handler = build(
        InterruptionSettings(mode=Mode.ACT, cluster_name=CLUSTER),
        Ports(scene.cluster, Ec2Instances(REGION), scene.clock, scene.recorder),
        queue,
        queue,
    )
    for number in BATCH:
        scene.notices.put(json.dumps(warning(number)))
    began = time.monotonic()

    answer = handler(batch_event(scene.notices.receive()), None)

    stopped_after = load()["Resources"]["InterruptionFunction"]["Properties"]["Timeout"]
    assert time.monotonic() - began < stopped_after
    assert len(answer["batchItemFailures"]) == len(BATCH)
    assert all(scene.node(f"n{number}").spec.unschedulable for number in BATCH)
