"""A hostile evictor hammers nodes that die, and the gate has it wait."""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

import pytest

from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane


def test_no_workload_dips_when_a_hostile_evictor_hammers_nodes_that_die(
    site: Site, gated: Ground
) -> None:
    """Without the gate it takes what the budget allows: stories/handover/test_other_drainers.py."""
    del gated
    site.add_nodes("a", "b")
    site.apply(budget("web", maxUnavailable=1))
    site.run(deployment("web", 8, start="2s"), deployment("single", 1, start="2s"))
    site.add_nodes("c")
    evenkeel = site.deploy()

    with evicting(site, "a", "b") as tried:
        evenkeel.notify(site.warning("a"), site.warning("b"))
        for name, replicas in (("web", 8), ("single", 1)):
            site.wait_for(f"{name} to run on c", partial(site.is_settled, name, replicas, "c"))
    evenkeel.wait_until_at_rest()
    assert site.witness.lowest("web") == 8
    assert site.witness.lowest("single") == 1
    assert len(tried) > 9, "the other client was there for some time"


@contextmanager
def evicting(site: Site, *shorts: str) -> Iterator[Sequence[str]]:
    """Meanwhile another client evicts every pod of these nodes, again and again: its tries."""
    stopping = Event()
    tried: list[str] = []

    def evict() -> None:
        while not stopping.wait(0.05):
            for pod in [pod for short in shorts for pod in site.pods_on(short)]:
                tried.append(pod["metadata"]["name"])
                with contextlib.suppress(AssertionError):  # refused by the budget, or gone
                    site.control_plane.evict(site.namespace, pod["metadata"]["name"])

    thread = Thread(target=evict, name="evictor", daemon=True)
    thread.start()
    try:
        yield tried
    finally:
        stopping.set()
        thread.join(30)
        assert not thread.is_alive()
