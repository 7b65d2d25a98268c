"""A handover is taken back: the real ReplicaSet controller adopts the pods again."""

from collections.abc import Mapping
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel_cli.cancelling import cancel
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.observer.following import is_released
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment

pytestmark = pytest.mark.controlplane


def pods(site: Site) -> Mapping[str, Any]:
    """Who the pods are: by uid their owners, when their containers began, and any release."""
    return {
        pod["metadata"]["uid"]: (
            [owner["uid"] for owner in pod["metadata"].get("ownerReferences", ())],
            [each["state"].get("running") for each in pod["status"].get("containerStatuses", ())],
            is_released(pod),
        )
        for pod in site.witness.pods()
    }


def test_pods_go_back_without_a_restart_when_a_notice_is_cancelled(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 3))
    before = pods(site)
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web", 3)

    recorder = InMemoryRecorder()
    cancel(site.control_plane.cluster, site.node_name("a"), recorder, act=True)

    site.wait_for("all to be as before", lambda: pods(site) == before)
    evenkeel.wait_until_at_rest()
    assert pods(site) == before
    node = site.node("a")
    assert not node["spec"].get("unschedulable")
    assert not any(t["key"].startswith("evenkeel.dev/") for t in node["spec"].get("taints", ()))
    assert not {names.DOOMED, names.NOTICE} & {
        *node["metadata"]["labels"],
        *node["metadata"].get("annotations", {}),
    }
    assert site.witness.lowest("web") == 3
    assert len(recorder.with_verb(Verb.ROLL_BACK)) == 3
