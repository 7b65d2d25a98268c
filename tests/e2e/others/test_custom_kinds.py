"""A node dies with pods of OpenKruise's CloneSets, whose kind is served.

What their controller does a test does (``../../kit/kruise.py``).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from evenkeel_sandbox.simulator.api.objects import Obj
from tests.e2e.harness import Site
from tests.e2e.manifests import selector, timed
from tests.kit import kruise
from tests.kit.custom_kinds import Step, acting, serve
from tests.kit.manifests import Manifest

pytestmark = pytest.mark.controlplane

LEFT = 15
"""Seconds from the warning to the deadline."""


@contextmanager
def running(
    site: Site, manifest: Manifest, pods: int, keeping: Callable[[Obj], Step]
) -> Iterator[None]:
    """Meanwhile an object of such a kind has so many pods."""
    kind, app = manifest["kind"], manifest["metadata"]["name"]
    serve(site.control_plane, kind)
    site.apply(manifest)
    owner = {**site.get(manifest["apiVersion"], kind, app)}
    with acting(site.control_plane, site.namespace, keeping(owner)):
        site.await_pods(app, pods)
        yield


def warn(site: Site, node: str) -> datetime:
    """Deploy Evenkeel, and have it told that a node dies; answers when."""
    warning = site.warning(node, ago=120 - LEFT)
    site.deploy().notify(warning)
    return datetime.fromisoformat(warning["time"]) + timedelta(seconds=120)


def test_one_pod_of_a_clone_set_is_missing_at_a_time(site: Site) -> None:
    site.add_nodes("a")
    with running(site, kruise.clone_set("web", 3, namespace="", pod=timed()), 3, kruise.keeping):
        site.add_nodes("b", spot=False)
        deadline = warn(site, "a")
        site.wait_for("web to run on b", lambda: site.is_settled("web", 3, "b"))
    assert site.witness.lowest("web") == 2
    gone = [each.at for each in site.departures_from("a", **selector("web"))]
    assert len(gone) == 3
    assert gone[0] < deadline - timedelta(seconds=LEFT - 5), "the first goes at once"
