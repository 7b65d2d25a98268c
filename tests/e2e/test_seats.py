"""Seats: all nodes of a StatefulSet die, none has room, and no ordinal waits for a new one."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj, node_of
from tests.e2e.autoscaler import autoscaling
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, selector, stateful_set

pytestmark = [pytest.mark.controlplane, pytest.mark.usefixtures("rights")]

OLD = ("a", "b", "c")
START, STOP = 1.0, 3.0
LATE = 8.0
"""Seconds that a node takes to come."""
MORE = 2.0
"""A gap is so many seconds longer than its pod's stop and start at most."""
ROOM, WANTED = "1", "800m"
"""Cores of a node, and of a pod: each node has room for one."""
THIEVES = 10
QUERY = names.SEAT.replace("/", "%2F")


def run_on_all(site: Site) -> None:
    """A StatefulSet with a pod on each node, which fills it."""
    site.add_nodes(*OLD, cpu=ROOM)
    db = stateful_set("db", len(OLD), start=f"{START}s", stop=f"{STOP}s", grace=5, cpu=WANTED)
    site.run(db)


def thieves() -> Sequence[Obj]:
    """Pods of the same priority as all others, which fit wherever one of the workload's does."""
    made = [bare_pod(f"thief-{number}", cpu=WANTED) for number in range(THIEVES)]
    for each in made:
        each["metadata"]["labels"] = selector("thief")
    return made


def gaps(site: Site) -> Mapping[str, float]:
    """How long each ordinal was away, in seconds: from when it was told to go to Ready again."""

    def told_to_go() -> Mapping[str, datetime]:
        """When each was first: kwok deletes a pod that has ended twice, by its name."""
        departures = site.witness.departures(**selector("db"))
        return {each.pod["metadata"]["name"]: each.at for each in reversed(departures)}

    site.wait_for("all to be told to go", lambda: len(told_to_go()) == len(OLD))
    site.await_pods("db", len(OLD))
    told = told_to_go()
    here = {pod["metadata"]["name"]: pod for pod in site.witness.pods(**selector("db"))}
    return {
        name: (site.witness.ready_at(pod) - told[name]).total_seconds()
        for name, pod in here.items()
    }


def seats(site: Site) -> Sequence[Obj]:
    """The seats that there are."""
    query = f"labelSelector={QUERY}"
    return site.control_plane.items("v1", "Pod", names.SYSTEM_NAMESPACE, query)


def left(site: Site) -> Sequence[str]:
    """What there is of seats: the pods, and the nodes that are held or labelled."""
    plane = site.control_plane
    nodes = plane.items("v1", "Node", query=f"labelSelector={QUERY}")
    tainted = [
        node
        for node in plane.items("v1", "Node")
        if any(taint["key"] == names.SEAT for taint in node["spec"].get("taints", ()))
    ]
    return [each["metadata"]["name"] for each in (*seats(site), *nodes, *tainted)]


def test_each_ordinal_is_away_for_its_own_stop_and_start_though_ten_thieves_wait(
    site: Site,
) -> None:
    run_on_all(site)
    evenkeel = site.deploy(seats=len(OLD))

    with autoscaling(site, late=LATE, cpu=ROOM, ignored="thief"):
        evenkeel.notify(*(site.warning(node) for node in OLD))
        site.wait_for("the first ordinal to go", site.witness.departures)
        site.wait_for("all seats to have nodes", lambda: all(map(node_of, seats(site))))
        site.apply(*thieves())
        found = gaps(site)
        site.wait_for("nothing of seats to be left", lambda: not left(site))

    assert max(found.values()) <= STOP + START + MORE, found
    waiting = [pod for pod in site.witness.pods() if not node_of(pod)]
    assert len(waiting) == THIEVES
    assert evenkeel.recorder.total("WritesFailed") == 0


@pytest.mark.nightly
def test_without_seats_each_waits_for_a_node(site: Site) -> None:
    """The same world, and what seats are worth in it."""
    run_on_all(site)
    evenkeel = site.deploy(seats=0)

    with autoscaling(site, late=LATE, cpu=ROOM):
        evenkeel.notify(*(site.warning(node) for node in OLD))
        found = gaps(site)

    assert min(found.values()) >= STOP + LATE + START, found
    assert left(site) == []
