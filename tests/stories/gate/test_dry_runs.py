"""An eviction in a dry run is answered as it would be, says so, and writes nothing."""

from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from tests.kit.asking import asks
from tests.kit.manifests import deployment
from tests.kit.reviews import answering, of_eviction, post
from tests.stories.gate.gated import Gated


def asked(gated: Gated, *, dry_run: bool = True) -> dict[str, Any]:
    """What the gate answers to somebody who evicts the pod of the workload ``one``."""
    handler = answering(gated.recorder, gated.settings)(gated.cluster, gated.clock)
    (pod,) = gated.pods("one")
    return post(handler, of_eviction(pod.namespace, pod.name, by="somebody", dryRun=dry_run))


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
    at_work.fail(ForbiddenError("not for you"), asks())
    response = asked(at_work)
    assert response["allowed"] is True
    assert response["warnings"] == ["evenkeel: did not look at this eviction (not for you)"]
