"""``evenkeel doctor`` on the real control plane: all is fine, then one link after the other."""

import json
import re
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.e2e.accounts import SYSTEM
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import all_ready
from tests.e2e.placement.webhook import Ground
from tests.e2e.rights import MANIFESTS
from tests.kit.certificates import END
from tests.kit.control_plane import MERGE
from tests.kit.manifests import PAUSED, bare_pod, resource

pytestmark = pytest.mark.controlplane

SERVE = "evenkeel-serve"


@pytest.fixture
def installed(site: Site, rights: None, gate_rights: None, ground: Ground) -> Ground:
    """Rights, webhook and gate, and a workload that is placed and gated, on a clean cluster."""
    del site, rights, gate_rights
    ground.add_nodes(spot=1, on_demand=1)
    ground.serve()
    ground.gate()
    ground.apply(deployment("web", 1))
    all_ready(ground, 1)
    return ground


def examined(ground: Ground) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by their links."""
    done = evenkeel(ground.control_plane, "doctor", "-o", "json")
    assert done.stderr == ""
    return done.returncode, {each["link"]: each for each in json.loads(done.stdout)["items"]}


def broken(findings: dict[str, dict[str, Any]]) -> set[str]:
    return {link for link, each in findings.items() if each["verdict"] == "broken"}


def test_each_broken_link_is_seen_and_all_else_is_fine(installed: Ground) -> None:
    ground = installed
    code, found = examined(ground)
    left = {link: each for link, each in found.items() if each["verdict"] != "fine"}
    assert set(left) == {"AWS", "spot nodes in EC2", "headroom", "clock of the reconciler"}, left
    assert {each["verdict"] for each in left.values()} == {"not looked at"}
    assert code == 0
    assert "holds each role" in found["policies"]["reason"]

    rule = [{"op": "remove", "path": "/rules/0"}]
    ground.control_plane.kubectl(
        *("patch", "clusterrole", "evenkeel-interruption", "--type", "json", "-p", json.dumps(rule))
    )
    ground.control_plane.apply(PAUSED)
    ground.wait_for(
        "the right to be gone", lambda: "rights of interruption" in broken(examined(ground)[1])
    )
    code, found = examined(ground)
    assert (code, broken(found)) == (1, {"pause", "rights of interruption"})
    assert "get nodes, list nodes, patch nodes" in found["rights of interruption"]["reason"]

    ground.control_plane.kubectl("apply", "-k", str(MANIFESTS))
    ground.control_plane.delete("v1", "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    ground.webhooks[0].kill()
    code, found = examined(ground)
    assert code == 1
    answers = {"answers of placement", "answers of gate"}
    assert broken(found) == {"placement webhook", "eviction gate"} | answers
    assert "went on with a dry-run pod" in found["placement webhook"]["reason"]
    assert found["webhook certificate"]["verdict"] == "not looked at"


@pytest.fixture
def served(ground: Ground) -> Iterator[str]:
    """What the API server calls a process with metrics, behind a Service that leads out to it.

    A pod says that this machine's address is its own: to others the API server proxies nothing.
    """
    host = f"{SERVE}.{SYSTEM}.svc"
    ground.start(host=host, options=("--bind", "0.0.0.0", "--metrics-port", "0"))  # noqa: S104
    (port,) = re.findall(r"serves metrics on port (\d+)", ground.log())
    address, plane = {"ip": own_address()}, ground.control_plane
    pod = bare_pod(SERVE, SYSTEM, image="serve", schedulerName="nobody")
    target = {"kind": "Pod", "namespace": SYSTEM, "name": SERVE}
    ports = [{"name": "metrics", "port": int(port)}]
    subsets = [{"addresses": [{**address, "targetRef": target}], "ports": ports}]
    # Without an address of the Service's the API server does not wait for one to answer.
    headless = {"clusterIP": "None", "ports": ports}
    made = (pod, resource("Service", SERVE, SYSTEM, spec=headless))
    plane.apply(*made)
    # They go with the Service.
    endpoints = resource("Endpoints", SERVE, SYSTEM, subsets=subsets)
    plane.request("POST", f"api/v1/namespaces/{SYSTEM}/endpoints", endpoints)
    status = {"podIP": address["ip"], "podIPs": [address]}
    path = f"api/v1/namespaces/{SYSTEM}/pods/{SERVE}/status"
    plane.request("PATCH", path, {"status": status}, MERGE)
    yield host
    for each in made:
        plane.delete(each["apiVersion"], each["kind"], SERVE, SYSTEM)


def own_address() -> str:
    """An address of this machine that is not a loopback one: the API server refuses those."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to_somebody:
        try:
            to_somebody.connect(("198.51.100.1", 9))
        except OSError:
            pytest.skip("this machine has no address but its loopback's")
        address: str = to_somebody.getsockname()[0]
    return address


def test_the_certificate_that_a_service_serves_is_read_by_way_of_the_api_server(
    ground: Ground, served: str
) -> None:
    def certificate() -> dict[str, Any]:
        return examined(ground)[1]["webhook certificate"]

    ground.apply_configuration(443, served)
    found = certificate()
    assert found["verdict"] == "fine", found
    assert f"{served} until {END:%Y-%m-%d}" in found["reason"]

    soon = SystemClock().now() + timedelta(days=3)
    ground.authority.issue("webhook", served, until=soon).write(ground.folder, "server")
    ground.wait_for("its end to be seen", lambda: certificate()["verdict"] == "broken")
    assert f"that of {served} ends on {soon:%Y-%m-%d}" in certificate()["reason"]

    ground.webhooks[0].kill()
    found = certificate()
    assert found["verdict"] == "not looked at", found
