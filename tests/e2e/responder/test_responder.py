"""EvictionRequests on a real API server are answered with a replacement, or leave nothing."""

from typing import Any

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.e2e.responder.requests import Requests
from tests.kit.eviction_requests import holds

pytestmark = pytest.mark.controlplane

MANY = 100
VALIDATING = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")


def as_they_are(site: Site) -> dict[str, Any]:
    """The labels, the annotations and the owners of each pod, by its uid."""
    found = {pod["metadata"]["uid"]: pod["metadata"] for pod in site.witness.pods()}
    return {
        uid: (
            each["labels"],
            each["annotations"],
            [(owner["kind"], owner["uid"]) for owner in each["ownerReferences"]],
        )
        for uid, each in found.items()
    }


def test_each_of_a_hundred_single_replicas_is_replaced_before_it_goes(
    site: Site, requests: Requests
) -> None:
    """Half of them behind a budget that allows no disruption, and no webhook is in the way.

    Pods take so long to get Ready that one which is evicted too early shows.
    """
    singles = [f"single-{number}" for number in range(MANY)]
    site.add_nodes("a", cpu="32", pods=150)
    site.apply(*(budget(name, minAvailable=1) for name in singles[::2]))
    site.run(*(deployment(name, 1, start="10s") for name in singles))
    site.add_nodes("b", cpu="32", pods=150)
    site.cordon("a")

    requests.ask()
    site.wait_for("all to have gone", lambda: not site.pods_on("a"), 180)
    site.wait_for(
        "all requests to be answered",
        lambda: sum(holds(each, "TargetEvicted") for each in requests.evictions()) == MANY,
    )
    assert {name: site.witness.lowest(name) for name in singles} == dict.fromkeys(singles, 1)
    told = requests.told()
    assert len(told) == MANY
    assert all("it can go" in each["message"] for each in told)
    assert all("completionTime" in each for each in told)
    assert site.control_plane.items(*VALIDATING) == []


def test_requests_that_are_withdrawn_leave_nothing(site: Site, requests: Requests) -> None:
    """There is no room for replacements: the pods are released, and wait."""
    waiting = [f"waiting-{number}" for number in range(20)]
    site.add_nodes("a", cpu="32", pods=150)
    site.run(*(deployment(name, 1) for name in waiting))
    site.cordon("a")
    before = as_they_are(site)

    requests.ask()
    site.wait_for("all to wait", lambda: len(site.witness.ever_released()) == len(waiting))
    site.wait_for(
        "all to be told",
        lambda: all({"heartbeatTime", "expectedCompletionTime"} <= {*e} for e in requests.told()),
    )
    requests.withdraw()
    site.wait_for("all to be as before", lambda: as_they_are(site) == before)
    assert all(holds(each, "Failed") for each in requests.evictions())
    assert all("completionTime" not in each for each in requests.told())
    assert {name: site.witness.lowest(name) for name in waiting} == dict.fromkeys(waiting, 1)
    for name in waiting:
        notes = site.get("apps/v1", "Deployment", name)["metadata"].get("annotations", {})
        assert not any(key.startswith("evenkeel.dev/") for key in notes)


def test_a_pod_that_can_have_no_second_goes_by_kubernetes_own_responder(
    site: Site, requests: Requests
) -> None:
    """The StatefulSet's names no responder: of Evenkeel nothing is asked."""
    site.add_nodes("a")
    site.run(
        deployment("alone", 1, strategy={"type": "Recreate"}),
        stateful_set("db", 1),
    )
    site.add_nodes("b")
    site.cordon("a")
    requests.ask()
    site.wait_for("both to run on b", lambda: len(site.pods_on("b")) == 2)
    (told,) = requests.told()
    assert "goes without a replacement" in told["message"]
