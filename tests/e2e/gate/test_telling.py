"""Who looks at a drain that waits learns who asked, since when, and what it waits for."""

import subprocess

import pytest

from tests.e2e.gate.draining import draining
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import EVENKEEL, Ground
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane

WHO = "kwok-admin"
"""The user of the kubeconfig that the drain uses."""


def evenkeel(site: Site, *arguments: str) -> str:
    """What the command prints about the site's namespace, its lines joined."""
    target = ("--kubeconfig", str(site.control_plane.kubeconfig), "-n", site.namespace)
    done = subprocess.run(
        [*EVENKEEL, *arguments, *target],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
        cwd=ROOT,
    )
    print(done.stdout)  # noqa: T201 - pytest shows it with a failure
    return " ".join(done.stdout.split())


def test_status_explain_events_and_the_log_say_who_asked_and_what_it_waits_for(
    site: Site, gated: Ground
) -> None:
    site.add_nodes("a")
    site.run(deployment("one", 1))
    with draining(site, "a") as (drain,):
        (pod,) = site.wait_for_releases("one")
        name = pod["metadata"]["name"]
        # There is no other node, so the scheduler has a word to say.
        site.wait_for("a replacement", lambda: len(site.witness.pods(app="one")) == 2)
        status = evenkeel(site, "status")
        explained = evenkeel(site, "explain", "deploy/one")
        site.add_nodes("b")
        said = drain.end()

    asked = f"Pod {name}: {WHO} asked at "
    waits = "to evict it; that passes when its replacement is available, at "
    for printed in (status, explained):
        assert asked in printed
        assert waits in printed
    assert "1 eviction waits" in status
    assert "nodes are available" in status
    assert f"{name} evicted" in said

    about = f"fieldSelector=involvedObject.name%3D{name}"
    events = site.control_plane.items("v1", "Event", site.namespace, about)
    (told,) = (event["message"] for event in events if event["reason"] == "EvictionAsked")
    assert told.startswith(f"{WHO} asks to evict it: ")

    log = gated.log()
    for reason in ("Released", "ReplacementPending", "ReplacementAvailable"):
        assert f"{name}: {reason}: {WHO} asks to evict it: " in log
