"""Evictions in the background: asked for once, and finished by the reconciler."""

import json
from functools import partial

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

SOMEBODY = ("evenkeel-test-descheduler", "system:masters")


def test_a_pod_whose_owner_asks_for_it_is_evicted_when_it_was_asked_for_once(
    site: Site, gated: Ground
) -> None:
    """The answer is what the descheduler looks for, and has its client not try by itself."""
    del gated
    site.add_nodes("a")
    site.apply(budget("single", minAvailable=1))
    workload = deployment("single", 1, start="2s")
    workload["spec"]["template"]["metadata"]["annotations"][names.REQUEST_EVICT_ONLY] = ""
    site.run(workload)
    site.add_nodes("b")
    evenkeel = site.deploy()

    (old,) = (pod["metadata"]["name"] for pod in site.witness.pods(**selector("single")))
    path = f"api/v1/namespaces/{site.namespace}/pods/{old}/eviction"
    metadata = {"name": old, "namespace": site.namespace}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    answer = site.control_plane.asked_by(*SOMEBODY, "POST", path, body)
    assert answer.status == 429
    status = json.loads(answer.data)
    assert status["reason"] == "TooManyRequests"
    assert "Eviction triggered evacuation" in status["message"]
    assert "Retry-After" not in answer.headers

    def marked() -> list[str]:
        found = [pod["metadata"] for pod in site.witness.pods(**selector("single"))]
        return [each["name"] for each in found if names.EVICTION_IN_PROGRESS in each["annotations"]]

    site.wait_for("it to say that it goes", lambda: marked() == [old])
    site.wait_for("its replacement", lambda: site.witness.ready("single") == 2)
    evenkeel.schedule()
    site.wait_for("another one alone", partial(site.is_settled, "single", 1, "a", "b"))
    assert marked() == []
    assert site.witness.lowest("single") == 1
