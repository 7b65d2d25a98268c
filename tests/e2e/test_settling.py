"""Behind a load balancer: a pod stays until its replacement has been Ready for long enough."""

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.kit.manifests import Manifest, resource

pytestmark = [pytest.mark.controlplane, pytest.mark.usefixtures("rights")]

AT_LEAST = 19.0
"""Seconds: the API server keeps in whole ones since when a pod is Ready."""

PORT = {"port": 80}


def service() -> Manifest:
    """The Service of the pods."""
    return resource("Service", "web", spec={"selector": {"app": "web"}, "ports": [PORT]})


def ingress() -> Manifest:
    """An Ingress with a host without paths, and a default that leads to the Service."""
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    spec = {"rules": [{"host": "example.org"}], "defaultBackend": backend}
    return resource("Ingress", "web", spec=spec)


def test_it_stays_until_a_balancer_knows_the_next_one(site: Site) -> None:
    site.add_nodes("old")
    site.run(deployment("web", 2))
    site.apply(service(), ingress())
    site.add_nodes("new")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("old"))
    site.wait_for("both to be told to go", lambda: len(site.departures_from("old", app="web")) == 2)
    ready = [site.witness.ready_at(pod) for pod in site.pods_on("new", app="web")]
    first = min(each.at for each in site.departures_from("old", app="web"))

    assert site.witness.lowest("web") == 2
    assert (first - max(ready)).total_seconds() >= AT_LEAST
    assert evenkeel.recorder.total("WritesFailed") == 0
