"""A node dies with pods of OpenKruise's CloneSets, or of LeaderWorkerSets, whose kinds are served.

What their controllers do a test does (``../../kit/kruise.py``, ``../../kit/lws.py``); StatefulSets
and the garbage collector are the real ones.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from evenkeel_sandbox.simulator.api.objects import Obj, is_ready, uid_of
from tests.e2e.harness import Site
from tests.e2e.manifests import selector, timed
from tests.kit import kruise, lws
from tests.kit.custom_kinds import Step, acting, serve
from tests.kit.manifests import Manifest

pytestmark = pytest.mark.controlplane

LEFT = 30
"""Seconds from the warning to the deadline."""
GRACE = timedelta(seconds=2)


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
    assert gone[0] < deadline - timedelta(seconds=LEFT / 2), "the first goes at once"


def ready(site: Site) -> Mapping[str, str]:
    """The uids of the Ready pods that stay, by their names."""
    pods = site.witness.pods(**selector("llm"))
    return {pod["metadata"]["name"]: uid_of(pod) for pod in pods if is_ready(pod)}


def test_a_group_of_a_leader_worker_set_is_recreated_once_at_the_last_moment(site: Site) -> None:
    nodes = ("a", "b", "c", "d")
    site.add_nodes(*nodes, cpu="1")
    made = lws.leader_worker_set("llm", 2, 2, namespace="", **timed(cpu="1"))
    with running(site, made, 4, lws.keeping):
        before = ready(site)
        (dying,) = (
            node
            for node in nodes
            for pod in site.pods_on(node)
            if pod["metadata"]["name"] == "llm-0-1"
        )
        site.add_nodes("free", spot=False)
        deadline = warn(site, dying)
        site.wait_for(
            "the group to be another",
            lambda: (found := ready(site)).keys() == before.keys() and found != before,
        )
        after = ready(site)
    assert {name for name in before if before[name] != after[name]} == {"llm-0", "llm-0-1"}
    # The old StatefulSet may make a worker again for a moment, until the garbage collector comes.
    departures = site.witness.departures(**selector("llm"))
    gone = [each.at for each in departures if uid_of(each.pod) in before.values()]
    assert len(gone) == 2
    assert timedelta() <= min(gone) - (deadline - GRACE - timedelta(seconds=2))
    assert max(gone) - min(gone) < timedelta(seconds=2)
