"""What the version before left: pods whose release took their template hash label away.

This version changes the label instead (docs/decisions/0016). It ends what the other one began.
"""

import json
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import decide
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.request import Get
from evenkeel.model.times import in_words
from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulator.api.objects import Obj
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment, selector
from tests.e2e.test_giving_back import identities, is_as_before, is_lifted
from tests.e2e.witness import owners_of, was_evicted

pytestmark = pytest.mark.controlplane

LEADS = {
    NoticeKind.INTERRUPTION: timedelta(seconds=120),
    NoticeKind.REBALANCE: timedelta(minutes=15),
}


def begin(site: Site, short: str, kind: NoticeKind, *, ago: timedelta) -> Obj:
    """Mark and cordon a node, release one of its pods, and end: as the version before did it."""
    given = site.clock.now().replace(microsecond=0) - ago
    notice = Notice(
        kind=kind,
        concerns=Concern.SPOT,
        event_id="before",
        instance_id=site.node(short)["spec"]["providerID"].rpartition("/")[2],
        time=given,
        deadline=given + LEADS[kind],
    )
    cluster = site.control_plane.cluster
    (reply,) = cluster.perform([Get(Node, site.node_name(short))])
    assert isinstance(reply.result, Node)
    write = decide(reply.result, notice, given).write
    while write is not None:
        (reply,) = cluster.perform([write])
        assert isinstance(reply.result, Node), reply.error
        write = mark.cordon(reply.result, given)  # a recommendation's node is only marked so far
    return release(site, site.pods_on(short)[0], notice)


def release(site: Site, pod: Obj, notice: Notice) -> Obj:
    """Take a pod out of its ReplicaSet: the hash label and the owner go."""
    (owner,) = pod["metadata"]["ownerReferences"]
    template_hash = pod["metadata"]["labels"][names.TEMPLATE_HASH]
    note = {
        "v": 1,
        "reason": notice.kind.value,
        "deadline": in_words(notice.deadline),
        "since": in_words(notice.time),
        "wanted": 2,
        "controller": owner["name"],
        "controllerUid": owner["uid"],
        "doNotDisrupt": None,
        "target": None,
        "there": 0,
    }
    labels = {names.TEMPLATE_HASH: None, names.RELEASED_FROM: template_hash}
    annotations = {names.RELEASE: json.dumps(note), names.DO_NOT_DISRUPT: "true"}
    patch: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": annotations, "ownerReferences": None}
    }
    site.merge("v1", "Pod", pod["metadata"]["name"], patch)
    return pod


def was_let_go(site: Site, pod: Obj) -> bool:
    """Whether its ReplicaSet has made another pod for it, and it is there without a controller."""
    pods = site.witness.pods(**selector("web"))
    left = [each for each in pods if each["metadata"]["uid"] == pod["metadata"]["uid"]]
    return len(pods) == 3 and len(left) == 1 and is_released(left[0]) and not owners_of(left[0])


def test_a_release_of_the_version_before_is_carried_through_under_a_warning(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    warned = timedelta(seconds=10)
    released = begin(site, "a", NoticeKind.INTERRUPTION, ago=warned)
    site.wait_for("the pod to be let go", lambda: was_let_go(site, released))
    assert names.TEMPLATE_HASH not in site.released("web")[0]["metadata"]["labels"]

    evenkeel = site.deploy()
    evenkeel.schedule()
    site.wait_for_releases("web", 2)
    assert not site.witness.departures(**selector("web"))  # no replacement has a place yet
    site.add_nodes("b")

    site.wait_for("all to be on the other node", lambda: site.is_settled("web", 2, "b"))
    assert site.witness.lowest("web") == 2
    gone = {each.pod["metadata"]["uid"]: each for each in site.witness.departures()}
    departure = gone[released["metadata"]["uid"]]
    assert was_evicted(departure.pod)
    evictions = {each.subject.uid: each for each in evenkeel.recorder.with_verb(Verb.EVICT)}
    assert evictions[released["metadata"]["uid"]].reason == "ReplacementAvailable"


def test_a_release_of_the_version_before_goes_back_when_its_recommendation_has_expired(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2))
    before = identities(site.witness.pods())
    released = begin(site, "a", NoticeKind.REBALANCE, ago=timedelta(minutes=16))
    site.wait_for("the pod to be let go", lambda: was_let_go(site, released))

    evenkeel = site.deploy()
    evenkeel.schedule()

    site.wait_for("all to be as before", lambda: is_as_before(site, "web", before))
    (pod,) = [p for p in site.witness.pods() if p["metadata"]["uid"] == released["metadata"]["uid"]]
    assert names.TEMPLATE_HASH in pod["metadata"]["labels"]
    assert names.RELEASE not in pod["metadata"].get("annotations", {})
    site.wait_for("the node to be free", lambda: is_lifted(site, "a"))
    assert site.witness.lowest("web") == 2
    assert not evenkeel.recorder.with_verb(Verb.EVICT)
