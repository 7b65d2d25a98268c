"""When a handover is taken back: a replacement is refused, a hint that expired, a cancel."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel_cli.cancelling import cancel
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulator.api.objects import Obj
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, pod_quota, selector
from tests.e2e.witness import owners_of, started_at

pytestmark = pytest.mark.controlplane


def identities(pods: Sequence[Obj]) -> Mapping[str, Any]:
    """Who the pods are: their uids, their owners, and since when their containers run."""
    return {pod["metadata"]["uid"]: (owners_of(pod), started_at(pod)) for pod in pods}


def is_as_before(site: Site, name: str, before: Mapping[str, Any]) -> bool:
    """Whether a workload has these pods, owned, never restarted, and no others."""
    pods = site.witness.pods(**selector(name))
    if {pod["metadata"]["uid"] for pod in pods} != set(before) or any(map(is_released, pods)):
        return False
    return identities(pods) == before


def is_lifted(site: Site, short: str) -> bool:
    """Whether a node bears nothing of Evenkeel's any more."""
    node = site.node(short)
    spec, metadata = node["spec"], node["metadata"]
    return (
        not spec.get("unschedulable")
        and not any(taint["key"].startswith("evenkeel.dev/") for taint in spec.get("taints", ()))
        and names.DOOMED not in metadata["labels"]
        and names.NOTICE not in metadata.get("annotations", {})
    )


def test_pods_go_back_without_a_restart_when_a_notice_is_cancelled(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 3))
    before = identities(site.witness.pods())
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web", 3)

    recorder = InMemoryRecorder()
    cancel(site.control_plane.cluster, site.node_name("a"), recorder, act=True)

    site.wait_for("all to be as before", lambda: is_as_before(site, "web", before))
    evenkeel.wait_until_at_rest()
    assert is_as_before(site, "web", before)
    assert is_lifted(site, "a")
    assert site.witness.lowest("web") == 3
    assert len(recorder.with_verb(Verb.ROLL_BACK)) == 3


def test_a_hinted_move_is_given_back_at_once_when_a_quota_forbids_the_replacement(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.apply(pod_quota(2))
    site.run(deployment("web", 2))
    before = identities(site.witness.pods())
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.recommendation("a"))
    site.wait_for(
        "a pod to be released", lambda: bool(site.witness.ever_released(**selector("web")))
    )

    site.wait_for("all to be as before", lambda: is_as_before(site, "web", before))
    site.wait_for("a cooldown", lambda: cooldown(site, "web"))
    assert site.witness.lowest("web") == 2
    assert not site.witness.departures()


def cooldown(site: Site, name: str) -> Mapping[str, Any]:
    """The cooldown that a Deployment carries; empty without one."""
    metadata = site.get("apps/v1", "Deployment", name)["metadata"]
    found: Mapping[str, Any] = json.loads(metadata["annotations"].get(names.COOLDOWN, "{}"))
    return found


def test_pods_go_back_and_the_node_lives_on_when_a_recommendation_expires(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    before = identities(site.witness.pods())
    evenkeel = site.deploy()
    evenkeel.notify(site.recommendation("a"))
    site.wait_for_releases("web", 2)

    site.clock.skip(timedelta(minutes=15))

    site.wait_for("all to be as before", lambda: is_as_before(site, "web", before))
    site.wait_for("the node to be free", lambda: is_lifted(site, "a"))
    site.wait_for("a cooldown", lambda: cooldown(site, "web"))
    assert cooldown(site, "web")["failures"] == 1
    assert site.witness.lowest("web") == 2


def test_a_workload_rests_for_its_cooldown_when_a_hinted_move_was_given_back(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    evenkeel = site.deploy()
    evenkeel.notify(site.recommendation("a"))
    site.wait_for_releases("web", 2)
    site.clock.skip(timedelta(minutes=15))
    evenkeel.wait_until_quiet()
    assert not site.released("web")

    written = len(evenkeel.recorder.with_verb(Verb.RELEASE))
    evenkeel.notify(site.recommendation("a"))
    site.wait_for("the cordon", lambda: site.node("a")["spec"].get("unschedulable"))
    evenkeel.wait_until_at_rest()
    assert len(evenkeel.recorder.with_verb(Verb.RELEASE)) == written

    site.clock.skip(datetime.fromisoformat(cooldown(site, "web")["until"]) - site.clock.now())
    evenkeel.schedule()
    site.wait_for_releases("web", 2)


def test_a_pod_is_replaced_at_once_after_its_last_moment_when_a_quota_forbade_it_before(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.apply(pod_quota(1))
    site.run(deployment("web", 1))
    site.add_nodes("b")
    evenkeel = site.deploy()
    warning = site.warning("a", ago=105)
    deadline = datetime.fromisoformat(warning["time"]) + timedelta(seconds=120)
    evenkeel.notify(warning)

    site.wait_for("it to be told to go", lambda: bool(site.witness.departures()))
    (departure,) = site.witness.departures()
    assert site.witness.ever_released(**selector("web"))
    assert deadline - timedelta(seconds=4) <= departure.at <= deadline
    site.wait_for("the replacement", lambda: site.is_settled("web", 1, "b"))
    # A ReplicaSet whose last try failed would by now rest for 10 s before the next.
    (replacement,) = site.witness.pods(**selector("web"))
    made = datetime.fromisoformat(replacement["metadata"]["creationTimestamp"])
    assert made < departure.at + timedelta(seconds=5)
