"""charts/evenkeel, rendered by Helm, and installed, upgraded and uninstalled on a control plane."""

import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.placement.clauses import not_spot
from evenkeel.model import names
from evenkeel.model.affinity import NodeRequirement
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.settings.shared import CAPACITY_LABELS
from evenkeel_cli.placement_policy import policy
from tests.e2e.accounts import SYSTEM, kubeconfig_of, kubeconfig_of_member, restricted
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import ADMISSION, EVENKEEL, Ground, Webhook, on_demand
from tests.kit.certificates import Pair
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.helm import CHART, Helm

pytestmark = pytest.mark.nightly

QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/evenkeel-prod-"
IMAGE = {"repository": "registry.example.com/evenkeel"}
POLL = {"noticeQueueUrl": f"{QUEUE}notices", "wakeUpQueueUrl": f"{QUEUE}wake-ups"}
VALUES: Mapping[str, Any] = {"clusterName": "prod", "image": IMAGE, "poll": POLL}
SERVE = "evenkeel-serve"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HELD = ("evenkeel-departures", "evenkeel-events", "evenkeel-writes")
LEASES = {"evenkeel-leases": ["Deny"]}
"""A part of the rights."""


@pytest.fixture(scope="module")
def helm() -> Helm:
    return Helm.built()


@pytest.fixture
def installed(ground: Ground, helm: Helm) -> Iterator[ControlPlane]:
    """The release evenkeel; of another test roles may be left, which it takes over."""
    plane = ground.control_plane
    ground.add_nodes()
    with restricted(plane):
        values = {**VALUES, "policies": "deny"}
        helm.on(plane, "install", "evenkeel", str(CHART), "--take-ownership", values=values)
        yield plane
        helm.on(plane, "uninstall", "evenkeel", "--ignore-not-found")


def containers(objects: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The container of each Deployment, by the Deployment's name."""
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0]
        for each in objects
        if each["kind"] == "Deployment"
    }


def actions(objects: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """What each policy's binding does."""
    return {
        each["spec"]["policyName"]: each["spec"]["validationActions"]
        for each in objects
        if each["kind"] == "ValidatingAdmissionPolicyBinding"
    }


def variables(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a container that have a value."""
    return {each["name"]: each["value"] for each in container["env"] if "value" in each}


def secret(plane: ControlPlane, name: str) -> dict[str, str]:
    """What a Secret holds."""
    data = plane.get("v1", "Secret", name, SYSTEM)["data"]
    return {key: b64decode(value).decode() for key, value in data.items()}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        pytest.param({**VALUES, "clusterName": ""}, "'/clusterName': minLength", id="no cluster"),
        pytest.param({**VALUES, "image": {}}, "image.repository is empty", id="no image"),
        pytest.param({**VALUES, "mode": "acts"}, "'/mode': value must be one of", id="no mode"),
        pytest.param({**VALUES, "poll": {}}, "'/poll/noticeQueueUrl'", id="no queue"),
        pytest.param(
            {**VALUES, "settings": {"EVENKEEL_MODE": "act"}},
            "'/settings/EVENKEEL_MODE'",
            id="a value's setting",
        ),
        pytest.param(
            {**VALUES, "placementPolicy": {"enabled": True}},
            "serve and placementPolicy both place pods",
            id="two that place",
        ),
        pytest.param(
            {
                **VALUES,
                "serve": {"enabled": False},
                "placementPolicy": {"enabled": True},
                "settings": {"EVENKEEL_CAPACITY_LABELS": "life"},
            },
            "placementPolicy goes by the usual labels",
            id="a policy by other labels",
        ),
        pytest.param({**VALUES, "serve": {"replicas": 0}}, "'/serve/replicas'", id="no replica"),
        pytest.param(
            {**VALUES, "serve": {"tolerations": [{"operator": "Exist"}]}},
            "'/serve/tolerations/0/operator'",
            id="no operator",
        ),
        pytest.param(
            {**VALUES, "image": {**IMAGE, "pullPolicy": "Sometimes"}},
            "'/image/pullPolicy'",
            id="no such policy",
        ),
        pytest.param(
            {**VALUES, "serve": {"podLabels": {"app.kubernetes.io/component": "web"}}},
            "'/serve/podLabels/app.kubernetes.io~1component'",
            id="the label by which pods are selected",
        ),
        pytest.param(
            {**VALUES, "serve": {"podLabels": {"team": "a b"}}},
            "'/serve/podLabels/team'",
            id="no value of a label",
        ),
        pytest.param(
            {**VALUES, "serve": {"nodeSelector": {"team": "a/b"}}},
            "'/serve/nodeSelector/team'",
            id="no value of a node's label",
        ),
        pytest.param({**VALUES, "sreve": {}}, "'sreve' not allowed", id="a typo"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_by_name(
    values: Mapping[str, Any], told: str, helm: Helm
) -> None:
    done = helm.tried("template", "evenkeel", CHART, values=values)
    assert done.returncode != 0
    assert told in done.stderr


def test_values_come_to_where_they_belong(helm: Helm) -> None:
    found = containers(helm.rendered(VALUES))
    assert {each["image"] for each in found.values()} == {f"{IMAGE['repository']}:0.2.0"}
    assert all("--dry-run" in each["args"] for each in found.values())
    digest = f"sha256:{'0' * 64}"
    more = {
        **VALUES,
        "mode": "act",
        "image": {**IMAGE, "digest": digest},
        "namespaces": "all",
        "settings": {"EVENKEEL_WINDOW": "200"},
        "poll": {**POLL, "memory": "2Gi"},
        "monitoring": {"enabled": True},
        "policies": "audit",
    }
    objects = helm.rendered(more)
    found = containers(objects)
    assert {each["image"] for each in found.values()} == {f"{IMAGE['repository']}@{digest}"}
    assert not any("--dry-run" in each["args"] for each in found.values())
    for each in found.values():
        assert (
            variables(each).items()
            >= {
                "EVENKEEL_CLUSTER_NAME": "prod",
                "EVENKEEL_NAMESPACES": "all",
                "EVENKEEL_WINDOW": "200",
            }.items()
        )
    assert found["evenkeel-poll"]["resources"]["limits"]["memory"] == "2Gi"
    by_kind = {each["kind"]: each for each in objects}
    (placement,) = by_kind["MutatingWebhookConfiguration"]["webhooks"]
    assert placement["namespaceSelector"]["matchLabels"] == {}
    assert by_kind.keys() >= {"ServiceMonitor", "PrometheusRule"}
    assert actions(objects) == {name: ["Audit"] for name in HELD} | LEASES
    assert actions(helm.rendered({**VALUES, "policies": "deny"})).keys() == {*HELD, *LEASES}
    assert actions(helm.rendered(VALUES)) == LEASES


def test_pods_of_the_release_are_like_a_cluster_wants_them(helm: Helm) -> None:
    """By the usual labels nodes with labels of one's own are none that a pod keeps off."""
    given: dict[str, Any] = {
        "replicas": 3,
        "requests": {"cpu": "1", "memory": "1Gi"},
        "nodeSelector": {"kubernetes.io/arch": "arm64", "a.b/yes": "true"},
        "tolerations": [{"key": "a", "operator": "Exists"}, {"effect": "NoExecute", "value": "1"}],
        "podAnnotations": {"a": "1", "b": 'say "so": {{ no }}'},
        "podLabels": {"team": "true", "a.b/c": "1", "empty": ""},
    }
    labels = "life=Ec2Spot, life=,node.kubernetes.io/kind"
    more = {
        **VALUES,
        "image": {**IMAGE, "pullPolicy": "Always"},
        "poll": {**POLL, **given},
        "serve": given,
        "imagePullSecrets": [{"name": "registry"}],
        "settings": {"EVENKEEL_CAPACITY_LABELS": labels},
    }
    wanted = not_spot(CAPACITY_LABELS.read({str(CAPACITY_LABELS): labels}))
    for own, clauses in (({}, not_spot(WELL_KNOWN)), (more, wanted)):
        for each in helm.rendered({**VALUES, **own}):
            if each["kind"] != "Deployment":
                continue
            template = each["spec"]["template"]
            pod, (container,) = template["spec"], template["spec"]["containers"]
            (term,) = pod["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
            found = msgspec.convert(term["matchExpressions"], tuple[NodeRequirement, ...])
            assert found == clauses
            selected = each["spec"]["selector"]["matchLabels"]
            assert container["imagePullPolicy"] == ("Always" if own else "IfNotPresent")
            assert template["metadata"]["labels"] == {
                **selected,
                **(given["podLabels"] if own else {}),
            }
            if own:
                assert pod["imagePullSecrets"] == [{"name": "registry"}]
                assert {key: pod[key] for key in ("nodeSelector", "tolerations")}.items() <= (
                    given.items()
                )
                assert template["metadata"]["annotations"] == given["podAnnotations"]
                requests = container["resources"]["requests"]
                assert {key: str(value) for key, value in requests.items()} == given["requests"]
                assert each["spec"]["replicas"] == 3


def test_the_responder_is_started_with_its_rights_and_those_of_the_gate(helm: Helm) -> None:
    def rendered(**more: Any) -> tuple[bool, set[str]]:
        objects = helm.rendered({**VALUES, "gate": {"enabled": False}, **more})
        roles = {each["metadata"]["name"] for each in objects if each["kind"] == "ClusterRole"}
        starts = "--responder" in containers(objects)[SERVE]["args"]
        return starts, roles & {"evenkeel-gate", "evenkeel-responder"}

    assert rendered() == (False, set())
    both = {"evenkeel-gate", "evenkeel-responder"}
    assert rendered(serve={"responder": True}) == (True, both)


def test_parts_can_be_left_out(helm: Helm) -> None:
    off = {"enabled": False}
    parts = ("poll", "serve", "viewer")
    objects = helm.rendered({"clusterName": "prod", **dict.fromkeys(parts, off)})
    kinds = {each["kind"] for each in objects}
    assert "ClusterRole" in kinds
    assert not kinds & {"Deployment", "Secret", "MutatingWebhookConfiguration", "ServiceMonitor"}
    assert "evenkeel-viewer" not in {each["metadata"]["name"] for each in objects}


def test_a_policy_in_place_of_serve_is_bound_where_it_acts(helm: Helm) -> None:
    is_on, is_off = {"enabled": True}, {"enabled": False}
    alone: dict[str, Any] = {**VALUES, "serve": is_off, "placementPolicy": is_on}

    def of(kind: str, **more: str) -> list[Any]:
        return [each for each in helm.rendered({**alone, **more}) if each["kind"] == kind]

    made, binding = policy()
    assert of(made["kind"]) == [made]
    assert not of(binding["kind"])
    assert of(binding["kind"], mode="act") == [binding]
    (everywhere,) = of(binding["kind"], mode="act", namespaces="all")
    assert everywhere["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] == {}


def test_a_release_runs_off_spot_keeps_its_token_and_goes_again(
    installed: ControlPlane, ground: Ground, helm: Helm
) -> None:
    def are_placed() -> bool:
        pods = installed.pods(SYSTEM, "labelSelector=app.kubernetes.io%2Fcomponent")
        return ["-demand-" in pod["spec"].get("nodeName", "") for pod in pods] == [True] * 4

    ground.wait_for("poll and serve to have nodes", are_placed)
    token = secret(installed, "evenkeel-webhook")
    helm.on(
        installed,
        "upgrade",
        "evenkeel",
        str(CHART),
        values={**VALUES, "mode": "act", "policies": "audit"},
    )
    assert secret(installed, "evenkeel-webhook") == token
    serve = containers([installed.get("apps/v1", "Deployment", SERVE, SYSTEM)])[SERVE]
    assert "--dry-run" not in serve["args"]
    helm.on(installed, "uninstall", "evenkeel")
    ours = ("-l", "app.kubernetes.io/part-of=evenkeel", "-o", "name")
    kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,deployments"
    assert installed.kubectl("get", kinds, "-n", SYSTEM, *ours) == ""


def test_the_api_server_believes_the_certificate_of_a_release_and_asks_with_its_token(
    installed: ControlPlane, ground: Ground, tmp_path: Path
) -> None:
    """A process with both plays the container: nothing here runs images."""
    made = secret(installed, "evenkeel-webhook-tls")
    pair = Pair(made["tls.crt"], made["tls.key"])
    token = secret(installed, "evenkeel-webhook")["token"]
    process = Webhook(tmp_path, pair, token, kubeconfig_of(installed, SERVE, tmp_path))
    ground.webhooks.append(process)
    installed.kubectl("delete", "service", SERVE, "-n", SYSTEM)
    leads = ("create", "service", "externalname", SERVE, "--external-name=localhost")
    installed.kubectl(*leads, "-n", SYSTEM)
    named = (ADMISSION, "MutatingWebhookConfiguration", "evenkeel")
    (placement,) = installed.get(*named)["webhooks"]
    placement["clientConfig"]["service"]["port"] = process.port
    installed.merge(*named, {"webhooks": [placement]})
    ground.wait_for("the API server to ask the webhook", ground.is_asked)
    ground.apply(deployment("web", 6, annotations={names.ON_DEMAND: "2"}))
    assert len(on_demand(ground.settled(6))) == 2
    installed.kubectl("delete", "service", SERVE, "-n", SYSTEM)


def test_a_viewer_may_read_all_that_commands_read(
    installed: ControlPlane, ground: Ground, tmp_path: Path
) -> None:
    ground.apply(deployment("alone", 1, annotations={names.ON_DEMAND: "none"}, cpu="1"))
    ground.settled(1)
    looks = kubeconfig_of_member(installed, "evenkeel-viewers", tmp_path)
    interrupted = f"i-0123456789abcdef0={ground.namespace}-spot-0"
    for asked in (
        ("status", "-A"),
        ("explain", "deploy/alone", "-n", ground.namespace),
        ("nodes",),
        ("headroom",),
        ("replay", "--sample", "interruption-warning-terminate", "--instance", interrupted),
    ):
        done = subprocess.run(
            [*EVENKEEL, *asked, "--kubeconfig", looks],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        assert "right" not in done.stdout + done.stderr  # as what is missing is told
