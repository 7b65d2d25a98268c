"""A hint comes to nothing while others select the same pods: none of them takes one."""

from datetime import timedelta

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.e2e.others.neighbours import adopters
from tests.kit.manifests import Manifest

pytestmark = pytest.mark.controlplane

APPS = ("web", "own")
HINT = timedelta(minutes=15)
LASTS = 4.0
"""Seconds within which a controller takes and deletes a pod without an owner that it selects."""


def twin_of(made: Manifest) -> Manifest:
    """A Deployment with the same selector and the same template."""
    return {**made, "metadata": {**made["metadata"], "name": "twin"}}


def test_pods_go_back_to_the_owner_that_they_had(site: Site) -> None:
    """The node has room for what is there, and for no replacement."""
    web, own = (deployment(app, 3, cpu="1") for app in APPS)
    site.add_nodes("a", cpu="9")
    site.run(web, own)
    site.apply(twin_of(web))
    site.wait_for("both to run", lambda: site.witness.count("web", selector("web")) == 6)
    site.apply(*adopters("own"))
    before = owners(site)
    evenkeel = site.deploy()
    evenkeel.notify(site.recommendation("a"))
    for app, pods in (("web", 6), ("own", 3)):
        site.wait_for_releases(app, pods)

    site.let_pass(LASTS)
    site.clock.skip(HINT)
    evenkeel.schedule()

    site.wait_for("all to be back", lambda: owners(site) == before)
    site.let_pass(LASTS)
    assert owners(site) == before
    assert site.witness.lowest("web") == 6
    assert site.witness.lowest("own") == 3


def owners(site: Site) -> dict[str, list[str]]:
    """Whose the pods on the node are, by their uids."""
    return {
        pod["metadata"]["uid"]: [
            owner["name"] for owner in pod["metadata"].get("ownerReferences", ())
        ]
        for pod in site.pods_on("a")
    }
