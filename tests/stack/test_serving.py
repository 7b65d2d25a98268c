"""What manifests/serve says of ports and probes, and manifests of images."""

from typing import Any

import pytest
import yaml

import evenkeel
from evenkeel_cli import manifests
from tests.kit.control_plane import ROOT


@pytest.fixture(scope="module")
def served() -> dict[str, dict[str, Any]]:
    """The objects of manifests/serve by their kinds, of which each is there once."""
    return {each["kind"]: dict(each) for each in manifests.documents("serve")}


@pytest.fixture(scope="module")
def container(served: dict[str, dict[str, Any]]) -> dict[str, Any]:
    (found,) = served["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_probes_ask_a_port_that_no_crowd_at_the_webhook_holds_up(container: dict[str, Any]) -> None:
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    for probe in ("readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert (asked["path"], asked.get("scheme", "HTTP")) == ("/healthz", "HTTP")
        assert f"--metrics-port={ports[asked['port']]}" in container["args"]
    assert f"--port={ports['https']}" in container["args"]


def test_the_policy_lets_in_what_each_port_is_for_and_nothing_else(
    served: dict[str, dict[str, Any]], container: dict[str, Any]
) -> None:
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    policy = served["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    assert policy["podSelector"] == served["Deployment"]["spec"]["selector"]
    anybody, pods = policy["ingress"]
    assert anybody == {"ports": [{"protocol": "TCP", "port": ports["https"]}]}
    assert pods == {
        "from": [{"namespaceSelector": {}}],
        "ports": [{"protocol": "TCP", "port": ports["metrics"]}],
    }


def test_the_policy_of_poll_lets_in_who_asks_for_metrics_and_nobody_else() -> None:
    polls = {each["kind"]: dict(each) for each in manifests.documents("poll")}
    (container,) = polls["Deployment"]["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    policy = polls["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    assert policy["podSelector"] == polls["Deployment"]["spec"]["selector"]
    (pods,) = policy["ingress"]
    assert pods == {
        "from": [{"namespaceSelector": {}}],
        "ports": [{"protocol": "TCP", "port": port["containerPort"]}],
    }


@pytest.mark.parametrize("folder", ["serve", "poll"])
def test_an_image_has_the_tag_of_its_version(folder: str) -> None:
    """``latest`` would be another program after each restart."""
    kustomization = yaml.safe_load((ROOT / "manifests" / folder / "kustomization.yaml").read_text())
    (image,) = kustomization["images"]
    assert image == {"name": "evenkeel", "newTag": evenkeel.__version__}
