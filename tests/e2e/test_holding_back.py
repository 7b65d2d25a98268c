"""When Evenkeel must not write: while it is paused, and in observe mode."""

from datetime import timedelta

import pytest

from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.settings import Mode
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.kit.manifests import PAUSED, SYSTEM

pytestmark = pytest.mark.controlplane


def test_all_writes_stop_within_a_second_when_it_is_paused(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 6, start="4s"))
    site.add_nodes("b")
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web", 6)

    site.control_plane.apply(SYSTEM, PAUSED)
    paused_at = site.clock.now()
    # The replacements get ready; were it not paused, the released pods would go now.
    site.wait_for("the replacements", lambda: site.witness.ready("web") == 12)
    site.let_pass(3)
    late = [w for w in evenkeel.cluster.changes if w.at > paused_at + timedelta(seconds=1)]
    assert not late
    assert not site.witness.departures()

    site.control_plane.delete("v1", "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    site.wait_for("the node to be empty", lambda: not site.pods_on("a"))
    assert site.witness.lowest("web") == 6


def test_only_events_are_written_when_it_observes(site: Site) -> None:
    site.add_nodes("a")
    site.apply(budget("single", minAvailable=1))
    site.run(deployment("web", 3), deployment("single", 1))
    site.add_nodes("b")
    before = {
        pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in site.witness.pods()
    }
    node_before = site.node("a")["spec"]

    evenkeel = site.deploy(mode=Mode.OBSERVE)
    evenkeel.notify(site.warning("a"))
    evenkeel.wait_until_quiet()
    evenkeel.schedule()
    evenkeel.wait_until_quiet()

    assert not evenkeel.cluster.changes
    assert {
        p["metadata"]["uid"]: p["metadata"]["resourceVersion"] for p in site.witness.pods()
    } == before
    assert site.node("a")["spec"] == node_before
    assert not site.is_marked("a")
    releases = evenkeel.recorder.with_verb(Verb.RELEASE)
    assert {decision.subject.uid for decision in releases} == set(before)
    events = site.control_plane.items(
        "v1", "Event", site.namespace, "fieldSelector=reason%3DNodeDoomed"
    )
    assert all(e["message"].startswith("observe mode, nothing was done: ") for e in events)
    assert {e["involvedObject"]["name"] for e in events} >= {"web", "single"}
