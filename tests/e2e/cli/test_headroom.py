"""``evenkeel headroom``: both forms of what it prints, on the real API server and scheduler."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.model import names
from evenkeel_cli.headroom import printed
from evenkeel_cli.headroom.present import HEADROOM, PROVISIONING, READY
from tests.e2e.accounts import restricted
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.kit.control_plane import ROOT, ControlPlane

pytestmark = pytest.mark.controlplane

NAMESPACE = ROOT / "manifests" / "rbac" / "namespace.yaml"
CRD = Path(__file__).with_name("capacity_buffers.yaml")
API = "autoscaling.x-k8s.io"
BUFFER = f"apis/{API}/v1beta1/namespaces/{names.SYSTEM_NAMESPACE}/capacitybuffers/{HEADROOM}"
STRICT = ("apply", "--validate=strict", "-f", "-")


@pytest.fixture
def system(control_plane: ControlPlane) -> Iterator[None]:
    """Evenkeel's namespace, under the strictest standard; at the end no headroom is in it."""
    control_plane.kubectl("apply", "-f", str(NAMESPACE))
    with restricted(control_plane):
        yield
    for each in (*printed.documents(printed.PODS), printed.documents(printed.BUFFER)[0]):
        control_plane.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=yaml.safe_dump(each))


@pytest.fixture
def served(control_plane: ControlPlane, system: None) -> Iterator[None]:
    """CapacityBuffer in both versions, which nothing heeds."""
    del system
    control_plane.kubectl("apply", "-f", str(CRD))
    control_plane.kubectl("wait", "--for=condition=Established", "-f", str(CRD))
    yield
    control_plane.kubectl("delete", "-f", str(CRD))


def verdict(plane: ControlPlane) -> tuple[str, str]:
    """What doctor says of headroom, and why."""
    items = json.loads(evenkeel(plane, "doctor", "-o", "json").stdout)["items"]
    (found,) = [each for each in items if each["link"] == "headroom"]
    return found["verdict"], f"{found['reason']} -> {found['remedy']}"


def line(plane: ControlPlane) -> str:
    """What status says of it."""
    lines = evenkeel(plane, "status", "-A").stdout.splitlines()
    return next(each for each in lines if each.startswith("Headroom:"))


def pause_pods(site: Site) -> Sequence[dict[str, Any]]:
    label = f"labelSelector=app.kubernetes.io/component%3D{printed.FOLDER}"
    return site.control_plane.pods(names.SYSTEM_NAMESPACE, label)


def on_nodes(site: Site) -> list[str]:
    """The nodes of the pause pods that run."""
    return [
        pod["spec"]["nodeName"] for pod in pause_pods(site) if pod["status"]["phase"] == "Running"
    ]


@pytest.mark.usefixtures("system")
def test_a_single_replica_takes_the_place_of_a_pause_pod(site: Site) -> None:
    site.add_nodes("spot")
    site.run(deployment("login", 1, cpu="400m"))
    advice = verdict(site.control_plane)
    site.add_nodes("a", "b", spot=False, cpu="1")
    manifests = evenkeel(site.control_plane, "headroom").stdout

    assert advice[0] == "not looked at"
    assert "1 single replica on spot" in advice[1]
    site.control_plane.kubectl(*STRICT, stdin=manifests)
    site.wait_for("the pause pod to run", lambda: len(on_nodes(site)) == 1)
    assert set(on_nodes(site)) <= {site.node_name("a"), site.node_name("b")}
    assert verdict(site.control_plane) == ("fine", "pause pods of 1 placeholder of 400m cpu -> ")

    everywhere = {"nodeSelector": {"eks.amazonaws.com/capacityType": "ON_DEMAND"}}
    site.run(deployment("others", 3, cpu="400m", **everywhere))
    functions = site.deploy()
    functions.notify(site.warning("spot"))
    site.wait_for("the replacement", lambda: site.is_settled("login", 1, "a", "b"))

    assert site.witness.lowest("login") == 1
    waits = site.wait_for("a pause pod to wait", lambda: pause_pods(site))
    assert [pod["status"]["phase"] for pod in waits] == ["Pending"]
    found, why = verdict(site.control_plane)
    assert (found, "1 of 1 pod have no on-demand node" in why) == ("broken", True), why
    assert "which is not there" in line(site.control_plane)


@pytest.mark.usefixtures("served")
def test_a_buffer_is_there_when_an_autoscaler_says_so(site: Site) -> None:
    site.add_nodes("spot")
    site.run(deployment("login", 1, cpu="400m"))
    manifests = evenkeel(site.control_plane, "headroom").stdout
    site.control_plane.kubectl(*STRICT, stdin=manifests)

    assert f"apiVersion: {API}/v1beta1" in manifests
    found, why = verdict(site.control_plane)
    assert found == "broken"
    assert f"no autoscaler says of it that it is {READY}" in why
    assert "feature gate CapacityBuffer" in why
    say(site.control_plane, **{READY: "True", PROVISIONING: "False"})
    assert verdict(site.control_plane)[0] == "broken"
    say(site.control_plane, **{READY: "True", PROVISIONING: "True"})
    assert verdict(site.control_plane)[0] == "fine"
    assert "a CapacityBuffer of 1 placeholder of 400m cpu" in line(site.control_plane)


def say(plane: ControlPlane, **conditions: str) -> None:
    """Play the autoscaler: its words about the buffer."""
    words = [
        {
            "type": each,
            "status": status,
            "reason": "Told",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for each, status in conditions.items()
    ]
    merge = "application/merge-patch+json"
    plane.request("PATCH", f"{BUFFER}/status", {"status": {"conditions": words}}, merge)
