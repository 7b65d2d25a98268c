"""What the simulator's webhooks are by default. How they are asked ``tests/contract`` shows."""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from evenkeel_sandbox.simulator.api.webhooks import Answer, CallFailedError, Webhook
from tests.unit.sandbox.simulator.scene import Scene, pod

MANIFESTS = Path(__file__).parents[4] / "manifests"


def ask(_: bytes) -> Answer:
    raise CallFailedError


@pytest.mark.parametrize(
    ("file", "webhook"),
    [("placement.yaml", Webhook(ask)), ("gate.yaml", Webhook.gate(ask))],
)
def test_the_defaults_are_those_of_the_manifest(file: str, webhook: Webhook) -> None:
    (manifest,) = yaml.safe_load((MANIFESTS / "webhook" / file).read_text())["webhooks"]
    assert manifest["name"] == webhook.name
    assert manifest["namespaceSelector"] == webhook.namespaces
    assert manifest["timeoutSeconds"] == webhook.timeout.total_seconds()
    assert manifest["failurePolicy"] == "Ignore"
    (rule,) = manifest["rules"]
    assert rule["resources"] == [f"pods/{webhook.sub_resource}".rstrip("/")]


def test_no_time_passes_while_a_webhook_is_asked() -> None:
    scene = Scene(0)
    asked: list[bytes] = []

    def slow(review: bytes) -> Answer:
        asked.append(review)
        return Answer(503, b"", timedelta(seconds=2))

    before = scene.clock.now()
    scene.cluster.ask(Webhook(slow, namespaces={}))
    scene.cluster.apply(pod("web"))
    assert (len(asked), scene.clock.now()) == (1, before)
