"""A drain that finds no room for replacements: it waits for its patience, and no longer."""

import json

import pytest

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import uid_of
from tests.e2e.gate.draining import draining
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

SHORTEST = {"EVENKEEL_GATE_PATIENCE_SECONDS": "30"}


def stuck(site: Site, ground: Ground) -> str:
    """A single replica on a, and nowhere else to go; its uid."""
    ground.start(settings=SHORTEST)
    ground.gate()
    site.add_nodes("a", pods=1)
    site.run(deployment("stuck", 1))
    (pod,) = site.witness.pods(**selector("stuck"))
    return uid_of(pod)


def warnings(site: Site, reason: str) -> list[str]:
    """What Warning Events of this reason say of the pod."""
    return [
        event["message"]
        for event in site.control_plane.items("v1", "Event", site.namespace)
        if event["involvedObject"]["kind"] == "Pod"
        and (event["type"], event["reason"]) == ("Warning", reason)
    ]


def test_the_eviction_passes_with_a_warning_when_patience_is_over(
    site: Site, ground: Ground
) -> None:
    stuck(site, ground)
    with draining(site, "a", seconds=90) as (drain,):
        site.wait_for_releases("stuck")
        assert not drain.is_over
        said = drain.end()
    assert "no replacement was available by" in said
    assert "1 available, 1 wanted" in said
    assert not site.pods_on("a")
    (told,) = site.wait_for("the warning", lambda: warnings(site, "PatienceOver"))
    assert "no replacement was available by" in told


def test_the_pod_goes_back_and_its_workload_rests_and_then_evictions_pass(
    site: Site, ground: Ground
) -> None:
    uid = stuck(site, ground)
    (pod,) = site.witness.pods(**selector("stuck"))
    evenkeel = site.deploy()
    with pytest.raises(AssertionError, match="makes its replacement first"):
        site.control_plane.evict(site.namespace, pod["metadata"]["name"])
    site.wait_for_releases("stuck")

    site.clock.skip_to(site.released_until("stuck"))
    evenkeel.schedule()
    site.wait_for(
        "it to go back",
        lambda: (
            [uid_of(each) for each in site.witness.pods(**selector("stuck"))] == [uid]
            and not site.released("stuck")
        ),
    )
    evenkeel.wait_until_at_rest()
    assert site.witness.lowest("stuck") == 1
    notes = site.get("apps/v1", "Deployment", "stuck")["metadata"]["annotations"]
    assert json.loads(notes[names.COOLDOWN])["failures"] == 1

    with draining(site, "a") as (drain,):
        said = drain.end()
    assert "evictions of its pods pass without a replacement until" in said
    assert site.wait_for("the warning", lambda: warnings(site, "CoolingDown"))
    assert len(site.witness.ever_released(**selector("stuck"))) == 1
