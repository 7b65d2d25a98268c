"""Evictors that come back seldom, and pods that start slowly: every eviction comes to its end."""

from datetime import timedelta

import pytest

from evenkeel.model import names
from evenkeel.model.pod import Pod
from tests.kit.manifests import deployment
from tests.stories.gate.gated import Gated

TAINT = {"key": "moved", "value": "true", "effect": "NoSchedule"}
"""Keeps new pods away, and is no drainer's: the node is not kept empty."""


class Seldom:
    """Who asks for the eviction of every pod of s1, once in so many seconds.

    ``asked``: how many evictions; ``pods``: the names of all pods that there ever were; ``most``:
    so many of them at the same time.
    """

    def __init__(self, gated: Gated, replicas: int, *, starts: int) -> None:
        """A Deployment on s1 whose pods take so many seconds to start; o1 has room for all."""
        self.gated = gated
        self.asked = 0
        self.pods: set[str] = set()
        self.most = 0
        annotations = {"evenkeel.test/ready-after": f"{starts}s"}
        web = deployment("web", replicas, pod={"annotations": annotations})
        gated.given(web, spare="o1", settle=starts + 5)
        gated.cluster.server.patch("Node", ("", "s1"), {"spec": {"taints": [TAINT]}})

    @property
    def left(self) -> list[Pod]:
        """The pods that are still on s1."""
        return [pod for pod in self.gated.pods("web", "s1") if pod.active]

    def come(self, *, every: int, longest: float = 86_400) -> float:
        """Come until no pod is left; how many seconds that took."""
        began = self.gated.seconds
        while self.left:
            assert self.gated.seconds - began < longest, f"{len(self.left)} pods are left"
            for pod in self.left:
                self.asked += 1
                self.gated.drainer("seldom").evict(pod.name, "default", again=False)
            self.wait(every)
        return self.gated.seconds - began

    def wait(self, seconds: int) -> None:
        """Let time pass, and count pods each second."""
        for _ in range(seconds):
            self.gated.clock.advance(timedelta(seconds=1))
            active = {pod.name for pod in self.gated.pods("web") if pod.active}
            self.pods |= active
            self.most = max(self.most, len(active))


@pytest.mark.parametrize(
    ("every", "visits"),
    [
        pytest.param(60, 5, id="VPA"),
        pytest.param(300, 2, id="descheduler"),
        pytest.param(3600, 2, id="once an hour"),
    ],
)
@pytest.mark.parametrize("replicas", [1, 3])
def test_an_evictor_that_comes_back_seldom_gets_its_pods_when_it_asks_again(
    replicas: int, every: int, visits: int, gated: Gated
) -> None:
    evictor = Seldom(gated, replicas, starts=60)
    assert evictor.come(every=every) <= visits * every
    assert gated.lowest("web") == replicas
    assert evictor.most <= 2 * replicas
    assert len(evictor.pods) - replicas <= evictor.asked


def test_pods_that_start_almost_as_slowly_as_an_eviction_waits_are_no_failure(
    gated: Gated,
) -> None:
    """Nobody looks between the replacement and the end of the release."""
    evictor = Seldom(gated, 1, starts=285)
    evictor.come(every=300)
    assert gated.lowest("web") == 1
    assert names.COOLDOWN not in str(gated.cluster.objects("Deployment"))
