"""Groups of pods, in whichever version of their API an API server serves them.

The objects are as Kubernetes 1.36 (v1alpha2) and 1.37 (v1alpha3, v1beta1) send them: k8s.io/api.
"""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.model.gang import CoschedulingPodGroup, PodGroup
from evenkeel.model.metrics import Metric
from evenkeel.model.request import List, Listing, Selection
from tests.kit.api_server import HandClock, ScriptedServer, Step, answer
from tests.unit.adapters.kubernetes.making import Connect, Lines, error_of

GROUPS = List(Selection(PodGroup, "ml"), fresh=False)
COSCHEDULED = List(Selection(CoschedulingPodGroup, "ml"), fresh=False)

NOT_SERVED = answer(404, b"404 page not found\n")
"""As an API server answers a path that it does not know: no Status."""

KNOWN = ("v1beta1", "v1alpha3", "v1alpha2")


def group(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "train", "namespace": "ml", "uid": "u", "resourceVersion": "7"}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": []}}


def listed(*groups: dict[str, Any]) -> Step:
    return answer(200, {"metadata": {"resourceVersion": "9"}, "items": list(groups)})


GANG = group(schedulingPolicy={"gang": {"minCount": 3}})


def versions_asked(server: ScriptedServer) -> list[str]:
    return [seen.path.split("/")[3] for seen in server.seen]


@pytest.mark.parametrize("position", range(3))
def test_a_group_is_read_in_the_newest_version_that_is_served(
    position: int, server: ScriptedServer, connect: Connect
) -> None:
    server.script(*[NOT_SERVED] * position, listed(GANG), listed(GANG))
    cluster = connect()
    for _ in range(2):
        (reply,) = cluster.perform([GROUPS])
        assert isinstance(reply.result, Listing), reply.error
        (found,) = reply.result.items
        assert isinstance(found, PodGroup)
        assert (found.name, found.minimum) == ("train", 3)
    asked = [*KNOWN[: position + 1], KNOWN[position]]
    assert versions_asked(server) == asked, "once found it is asked for first"


def test_after_an_upgrade_of_the_api_server_the_version_is_found_again(
    server: ScriptedServer, connect: Connect
) -> None:
    cluster = connect()
    server.script(NOT_SERVED, NOT_SERVED, listed(GANG))
    cluster.perform([GROUPS])
    server.script(NOT_SERVED, listed(GANG))
    (reply,) = cluster.perform([GROUPS])
    assert isinstance(reply.result, Listing), reply.error
    assert versions_asked(server)[3:] == ["v1alpha2", "v1beta1"]


def test_a_refusal_is_no_reason_to_try_another_version(
    server: ScriptedServer, connect: Connect
) -> None:
    journal = Lines()
    server.script(answer(403, {"message": "no"}))
    assert isinstance(error_of(connect(journal=journal), GROUPS), ForbiddenError)
    assert not journal.told


def test_that_none_is_served_is_counted_and_said_once_a_minute(
    server: ScriptedServer, connect: Connect, clock: HandClock
) -> None:
    journal = Lines()
    server.script(always=NOT_SERVED)
    cluster = connect(journal=journal)
    assert isinstance(error_of(cluster, GROUPS), NotFoundError)
    assert versions_asked(server) == list(KNOWN)
    error_of(cluster, GROUPS)
    assert journal.counts == {Metric.KINDS_NOT_SERVED: 2}
    (line,) = journal.told
    assert "list podgroups in ml: 404 404 page not found" in line
    assert all(f"scheduling.k8s.io/{version}" in line for version in KNOWN)
    clock.sleep(timedelta(minutes=1))
    error_of(cluster, GROUPS)
    assert len(journal.told) == 2


def test_of_two_kinds_that_are_not_served_both_are_said(
    server: ScriptedServer, connect: Connect
) -> None:
    journal = Lines()
    server.script(always=NOT_SERVED)
    cluster = connect(journal=journal)
    error_of(cluster, COSCHEDULED)
    error_of(cluster, GROUPS)
    error_of(cluster, COSCHEDULED)
    assert ["scheduling.x-k8s.io" in line for line in journal.told] == [True, False]


BASIC: dict[str, Any] = {"basic": {}}
THREE = {"gang": {"minCount": 3}}


@pytest.mark.parametrize(
    ("policy", "mode", "minimum"),
    [
        (BASIC, {}, 0),
        (BASIC, {"disruptionMode": {"single": {}}}, 0),
        (BASIC, {"disruptionMode": "Pod"}, 0),
        (THREE, {}, 3),
        (THREE, {"disruptionMode": None}, 3),
        (THREE, {"disruptionMode": {"single": {}}}, 3),
        (THREE, {"disruptionMode": "Pod"}, 3),
    ],
)
def test_the_policy_is_the_same_in_every_version(
    policy: dict[str, Any],
    mode: dict[str, Any],
    minimum: int,
    server: ScriptedServer,
    connect: Connect,
) -> None:
    found = read(server, connect, {"schedulingPolicy": policy, **mode})
    assert (found.minimum, found.is_one) == (minimum, False)


@pytest.mark.parametrize("policy", [BASIC, THREE])
@pytest.mark.parametrize("mode", [{"all": {}}, "PodGroup"])
def test_a_group_that_is_disrupted_together_needs_all_its_pods(
    policy: dict[str, Any], mode: object, server: ScriptedServer, connect: Connect
) -> None:
    found = read(server, connect, {"schedulingPolicy": policy, "disruptionMode": mode})
    assert (found.minimum, found.is_one) == (None, True)


def test_of_a_policy_that_is_not_known_all_pods_are_needed(
    server: ScriptedServer, connect: Connect
) -> None:
    assert read(server, connect, {"schedulingPolicy": {"ofTomorrow": {}}}).minimum is None


@pytest.mark.parametrize(("spec", "minimum"), [({"minMember": 4}, 4), ({}, 0)])
def test_the_same_form_reads_others_groups(
    spec: dict[str, Any], minimum: int, server: ScriptedServer, connect: Connect
) -> None:
    assert read(server, connect, spec, COSCHEDULED).minimum == minimum


def read(
    server: ScriptedServer, connect: Connect, spec: dict[str, Any], asked: List[Any] = GROUPS
) -> PodGroup:
    """A group with this spec, as it comes out of a list."""
    server.script(listed(group(**spec)))
    (reply,) = connect().perform([asked])
    assert isinstance(reply.result, Listing), reply.error
    (found,) = reply.result.items
    assert isinstance(found, PodGroup)
    return found
