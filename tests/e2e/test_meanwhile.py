"""What others do to a workload, or to a node, in the middle of a handover."""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import NO_LOSS, budget, deployment, selector
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane


def test_no_replica_is_missed_when_two_batches_of_notices_overlap_on_one_workload(
    site: Site,
) -> None:
    site.add_nodes("a", "b")
    site.run(deployment("web", 8, start="3s"))
    on_b = len(site.pods_on("b"))
    assert 0 < on_b < 8
    site.add_nodes("c")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web", 8 - on_b)
    evenkeel.notify(site.warning("b"))

    site.wait_for("all to run on c", lambda: site.is_settled("web", 8, "c"))
    assert site.witness.lowest("web") == 8


def test_no_replica_is_missed_when_a_replacement_lands_on_a_node_that_is_doomed_next(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 2, start="3s"))
    site.add_nodes("b", "c")
    site.cordon("c")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))
    site.wait_for("replacements on b", lambda: len(site.pods_on("b")) == 2)
    site.cordon("c", cordoned=False)
    evenkeel.notify(site.warning("b"))

    site.wait_for("all to run on c", lambda: site.is_settled("web", 2, "c"))
    assert site.witness.lowest("web") == 2


def test_the_workload_follows_its_scale_when_it_is_scaled_up_and_down_meanwhile(
    site: Site,
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 4, start="4s"))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web", 4)
    site.scale("web", 9)
    site.wait_for("9 new pods", lambda: len(site.pods_on("b")) == 9)
    assert site.witness.lowest("web") == 4
    site.scale("web", 3)

    site.wait_for("three to run on b", lambda: site.is_settled("web", 3, "b"))
    assert site.witness.lowest("web") == 3


def test_a_rolling_update_completes_without_loss_when_it_starts_meanwhile(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 3, start="2s", strategy=NO_LOSS))
    site.add_nodes("b")
    evenkeel = site.deploy()

    evenkeel.notify(site.warning("a"))
    site.wait_for_releases("web")
    new = {"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}}
    site.merge("apps/v1", "Deployment", "web", new)

    def is_new() -> bool:
        pods = site.witness.pods(**selector("web"))
        return all(pod["metadata"]["labels"].get("version") == "2" for pod in pods)

    site.wait_for(
        "the new version on b", lambda: site.is_settled("web", 3, "b") and is_new(), seconds=60
    )
    assert site.witness.lowest("web") == 3


def test_released_pods_go_at_once_when_their_workload_is_deleted(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 3))
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    released = site.wait_for_releases("web", 3)

    site.delete("apps/v1", "Deployment", "web")

    site.wait_for("no pod to be left", lambda: not site.witness.pods(**selector("web")))
    gone = {d.pod["metadata"]["uid"] for d in site.witness.departures()}
    assert gone >= {pod["metadata"]["uid"] for pod in released}
    evenkeel.wait_until_at_rest()


def test_no_pod_stays_released_when_its_node_is_deleted_early(
    site: Site, control_plane: ControlPlane
) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 4, start="3s"))
    site.add_nodes("b")
    evenkeel = site.deploy()
    evenkeel.notify(site.warning("a"))
    released = site.wait_for_releases("web", 4)

    site.terminate("a")
    control_plane.delete_node(site.node_name("a"))

    site.wait_for("all to run on b", lambda: site.is_settled("web", 4, "b"))
    evenkeel.wait_until_at_rest()
    assert not site.released("web")
    gone = {departure.pod["metadata"]["uid"] for departure in site.witness.departures()}
    assert gone >= {pod["metadata"]["uid"] for pod in released}


def test_no_more_is_lost_than_the_budget_allows_when_another_evicts_as_well(
    site: Site,
) -> None:
    site.add_nodes("a", "b")
    site.apply(budget("web", maxUnavailable=1))
    site.run(deployment("web", 8, start="2s"))
    site.add_nodes("c")
    evenkeel = site.deploy()

    with evicting(site, "a", "b") as taken:
        evenkeel.notify(site.warning("a"), site.warning("b"))
        site.wait_for("all to run on c", lambda: site.is_settled("web", 8, "c"), seconds=60)
    evenkeel.wait_until_at_rest()
    assert taken
    assert site.witness.ever_released(**selector("web"))
    assert site.witness.lowest("web") >= 7


@contextmanager
def evicting(site: Site, *shorts: str) -> Iterator[Sequence[str]]:
    """Meanwhile another client evicts every pod of these nodes, again and again.

    Yields the names of those that it got.
    """
    stopping = Event()
    taken: list[str] = []

    def evict() -> None:
        while not stopping.wait(0.05):
            for pod in [pod for short in shorts for pod in site.pods_on(short)]:
                name = pod["metadata"]["name"]
                with contextlib.suppress(AssertionError):  # refused by the budget, or gone
                    site.control_plane.evict(site.namespace, name)
                    taken.append(name)

    thread = Thread(target=evict, name="evictor", daemon=True)
    thread.start()
    try:
        yield taken
    finally:
        stopping.set()
        thread.join(30)
        assert not thread.is_alive()
