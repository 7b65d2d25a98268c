"""`kubectl drain` on a real API server, through the gate, and one that dies meanwhile."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from evenkeel.settings.gate import PATIENCE
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.placement.webhook import Ground

pytestmark = pytest.mark.controlplane

BARE = [f"bare-{number}" for number in range(5)]
GUARDED = [f"guarded-{number}" for number in range(5)]
"""Single replicas, and single replicas whose budget allows no disruption."""

SHORTEST = 30
"""Seconds of the shortest patience that can be set."""

OPTIONS = ("--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s")


@contextmanager
def draining(site: Site, short: str) -> Iterator[None]:
    """A drain of a node, which has ended well at the end."""
    kubectl = str(site.control_plane.binaries / "kubectl")
    target = f"--kubeconfig={site.control_plane.kubeconfig}"
    with subprocess.Popen(
        [kubectl, target, "drain", site.node_name(short), *OPTIONS],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield
            said = process.communicate(timeout=150)[0]
            assert process.returncode == 0, said
        finally:
            process.kill()


def test_single_replicas_never_reach_zero(site: Site, gated: Ground) -> None:
    del gated
    site.add_nodes("a", pods=20)
    site.apply(*(budget(name, minAvailable=1) for name in GUARDED))
    site.run(*(deployment(name, 1, start="2s") for name in (*BARE, *GUARDED)))
    site.add_nodes("b", pods=20)
    with draining(site, "a"):
        pass
    lowest = {name: site.witness.lowest(name) for name in (*BARE, *GUARDED)}
    assert lowest == dict.fromkeys((*BARE, *GUARDED), 1)
    assert not site.pods_on("a")


def test_another_gate_goes_on_when_one_is_killed_between_release_and_answer(
    site: Site, ground: Ground
) -> None:
    """To that eviction there is no answer, so it passes the webhook, and the budget refuses it."""
    site.add_nodes("a")
    site.apply(budget("single", minAvailable=1))
    site.run(deployment("single", 1, start="3s"))
    site.add_nodes("b")
    ground.start(2, command="tests.e2e.gate.dying_gate")
    ground.gate()
    first, second = ground.webhooks
    with draining(site, "a"):
        site.wait_for_releases("single")
        site.wait_for(
            "a gate to die", lambda: {first.process.poll(), second.process.poll()} > {None}
        )
    site.wait_for("all to run on b", partial(site.is_settled, "single", 1, "b"))
    assert site.witness.lowest("single") == 1
    assert len(site.witness.ever_released(**selector("single"))) == 1


@pytest.mark.nightly
def test_a_replacement_that_starts_slowly_is_waited_for_beyond_patience(
    site: Site, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as its Deployment's progress deadline says, which is ten minutes."""
    monkeypatch.setenv(PATIENCE, str(SHORTEST))
    site.add_nodes("a")
    site.run(deployment("slow", 1, start=f"{SHORTEST + 8}s"))
    site.add_nodes("b")
    ground.start()
    ground.gate()
    with draining(site, "a"):
        pass
    assert site.witness.lowest("slow") == 1
    assert len(site.witness.ever_released(**selector("slow"))) == 1
    site.wait_for("it to run on b", partial(site.is_settled, "slow", 1, "b"))
