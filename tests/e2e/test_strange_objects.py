"""What a tenant or a kubelet may write into an object, on the API server that takes it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

DEEPEST = 9_994
"""Levels that the API server still takes."""


@contextmanager
def deep_pod(control_plane: ControlPlane) -> Iterator[None]:
    """A tenant's pod, never scheduled, that looks released, with managedFields that deep."""
    deep = '{"f:a":' * DEEPEST + "{}" + "}" * DEEPEST
    fields = (
        '[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",'
        f'"fieldsV1":{deep}}}]'
    )
    with control_plane.namespace() as tenants:
        control_plane.kubectl(
            *("create", "--raw", f"/api/v1/namespaces/{tenants}/pods", "-f", "-"),
            stdin=(
                '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"deep",'
                f'"labels":{{"{names.RELEASED_FROM}":"abc"}},"managedFields":{fields}}},'
                '"spec":{"schedulerName":"nobody","containers":[{"name":"a","image":"b"}]}}'
            ),
        )
        try:
            yield
        finally:
            control_plane.kubectl("delete", "pod", "deep", "-n", tenants, "--grace-period=0")


def test_a_pod_that_is_nested_too_deep_keeps_no_node_from_being_drained(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 3))
    site.add_nodes("b")
    evenkeel = site.deploy()

    with deep_pod(site.control_plane):
        evenkeel.notify(site.warning("a"))
        site.wait_for("all to run on b", lambda: site.is_settled("web", 3, "b"))

    assert site.witness.lowest("web") == 3


def test_a_kubelet_s_time_of_the_year_0_keeps_no_other_node_from_being_drained(site: Site) -> None:
    site.add_nodes("a", "strange")
    site.cordon("strange")
    site.run(deployment("web", 3))
    condition = {"type": "Odd", "status": "True", "lastTransitionTime": "0000-01-01T00:00:00Z"}
    site.control_plane.request(
        "PATCH",
        f"api/v1/nodes/{site.node_name('strange')}/status",
        {"status": {"conditions": [condition]}},
        "application/strategic-merge-patch+json",
    )
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"), site.warning("strange"))

    site.wait_for("all to run on b", lambda: site.is_settled("web", 3, "b"))
    assert site.witness.lowest("web") == 3
    assert site.is_marked("strange")
