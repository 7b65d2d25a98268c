"""An eviction in a dry run is answered as it would be, says so, and writes nothing."""

import json
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.handlers import placement
from evenkeel.settings import Mode, PlacementSettings
from tests.kit.manifests import deployment
from tests.stories.gate.gated import TOKEN, Gated


def asked(gated: Gated, *, dry_run: bool = True) -> dict[str, Any]:
    """What the gate answers to somebody who evicts the pod of the workload ``one``."""
    placing = PlacementSettings(mode=Mode.ACT, cluster_name="gated", tokens=(TOKEN,))
    handler = placement.build(placing, gated.settings, gated.cluster, gated.clock, gated.recorder)
    (pod,) = gated.pods("one")
    request = {
        "uid": "review",
        "operation": "CREATE",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "subResource": "eviction",
        "namespace": pod.namespace,
        "name": pod.name,
        "userInfo": {"username": "somebody"},
        "dryRun": dry_run,
        "object": {"metadata": {"name": pod.name, "namespace": pod.namespace}},
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    answer = handler(
        {
            "rawPath": f"/v1/{TOKEN}/evictions",
            "headers": {"content-type": "application/json"},
            "requestContext": {"http": {"method": "POST"}},
            "body": json.dumps(review),
        },
        None,
    )
    response: dict[str, Any] = json.loads(answer["body"])["response"]
    return response


@pytest.fixture
def at_work(gated: Gated) -> Gated:
    """A workload of one pod that the gate would hand over."""
    gated.given(deployment("one"), spare="o1")
    return gated


def test_a_dry_run_is_deferred_and_releases_nothing(at_work: Gated) -> None:
    assert asked(at_work)["status"]["code"] == 429
    assert not any(pod.released for pod in at_work.pods("one"))


def test_a_dry_run_that_passes_tells_why(at_work: Gated) -> None:
    server = at_work.cluster.server
    server.patch("Namespace", ("", "default"), {"metadata": {"labels": {"evenkeel.dev/gate": "x"}}})
    (told,) = asked(at_work)["warnings"]
    assert told.startswith("evenkeel: ")
    assert "warnings" not in asked(at_work, dry_run=False)


def test_a_dry_run_tells_that_nothing_may_be_read(at_work: Gated) -> None:
    def fail(_request: Any, _proceed: Any) -> Any:
        raise ForbiddenError("not for you")

    at_work.cluster.intercept(fail)
    response = asked(at_work)
    assert response["allowed"] is True
    assert response["warnings"] == ["evenkeel: did not look at this eviction (not for you)"]
