"""The webhook that places pods names Evenkeel as a responder, too."""

from evenkeel.model import names
from evenkeel_responder.naming import named
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.manifests import deployment, resource, stateful_set
from tests.kit.reviews import TOKEN, answering
from tests.stories.doors.doors import NAMING, EvictionRequests


def test_new_pods_of_a_deployment_name_it_and_are_placed(requests: EvictionRequests) -> None:
    scene = requests.scene
    labels = {names.GATE: "true", names.MANAGED: "true"}
    scene.apply(resource("Namespace", "default", labels=labels))
    handler = answering(scene.recorder, adds=named)
    scene.cluster.ask(Webhook(HandlerWebhook(scene.cluster, TOKEN, handler)))
    scene.given(deployment("web"), stateful_set("db"), spare="o1")
    specs = {pod["metadata"]["labels"]["app"]: pod for pod in scene.cluster.objects("Pod")}
    assert specs["web"]["spec"]["evictionResponders"] == NAMING["evictionResponders"]
    assert "evictionResponders" not in specs["db"]["spec"]
    assert all(names.CAPACITY in pod["metadata"]["labels"] for pod in specs.values())
    requests.ask()
    scene.settle(30)
    assert [pod.spec.node_name for pod in scene.pods("web")] == ["o1"]
    assert scene.lowest("web") == 1
