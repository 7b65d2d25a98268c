"""A namespace that lets its pods tolerate few taints: a further toleration has a pod refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.model import names
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import all_ready
from tests.e2e.placement.webhook import Ground, on_demand, opened
from tests.kit.control_plane import ControlPlane, Options

pytestmark = pytest.mark.controlplane

BORNE = [f"node.kubernetes.io/{key}" for key in ("not-ready", "unreachable", "memory-pressure")]
"""What the API server lets each pod tolerate."""


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Ground]:
    """A namespace of a control plane with the admission plugin, which allows one toleration."""
    flags = ("enable-admission-plugins=PodTolerationRestriction",)
    allowed = json.dumps([{"key": key, "operator": "Exists"} for key in BORNE])
    notes = {"metadata": {"annotations": {names.TOLERATIONS_ALLOWED: allowed}}}
    with (
        ControlPlane.launch(Options(api_server_flags=flags)) as started,
        started.namespace() as name,
        opened(started, name, tmp_path) as ground,
    ):
        ground.add_nodes(spot=1, on_demand=1)
        started.merge("v1", "Namespace", name, notes)
        yield ground


@pytest.mark.parametrize("by_policy", [False, True], ids=["webhook", "policy"])
def test_pods_are_made_and_changed_where_few_tolerations_are_allowed(
    strict: Ground, *, by_policy: bool
) -> None:
    if by_policy:
        strict.police()
    else:
        strict.serve()
    strict.apply(deployment("web", 2, start="200ms"))
    pods = all_ready(strict, 2)
    assert {pod["metadata"]["labels"][names.CAPACITY] for pod in pods} == {"spot"}
    assert on_demand(pods) == []
    marked = {"metadata": {"labels": {"marked": "true"}}}
    for pod in pods:
        name = pod["metadata"]["name"]
        strict.control_plane.merge("v1", "Pod", name, marked, strict.namespace)
