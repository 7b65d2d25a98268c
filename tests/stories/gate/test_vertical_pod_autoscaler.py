"""VPA's updater as an evictor: which pods it asks for is its own rule.

It comes once a minute, groups pods by their controllers, leaves groups of fewer than two, and asks
for what its recommendation has changed, by ``policy/v1`` without options. A released pod is its
Deployment's, which is a group of its own that wants no replicas. Read in
https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler/pkg/updater/restriction
"""

from collections import defaultdict
from datetime import timedelta

import pytest

from evenkeel.model.pod import Pod
from tests.kit.manifests import deployment
from tests.stories.gate.gated import Gated

EVERY = 60
MIN_REPLICAS = 2


class Updater:
    """The updater, for which the pods that are there when it begins are to be made anew."""

    def __init__(self, gated: Gated, *, least: int = MIN_REPLICAS) -> None:
        self.gated = gated
        self.least = least
        self.old = {pod.uid for pod in gated.pods("web")}
        self.replicas = len(self.old)
        self.made = set(self.old)

    @property
    def left(self) -> list[Pod]:
        """The pods that it has not got yet."""
        return [pod for pod in self.gated.pods("web") if pod.uid in self.old and pod.active]

    def visit(self) -> None:
        """Ask for each pod that may go by what runs: a refusal changes nothing of that."""
        groups = defaultdict[str, list[Pod]](list)
        for pod in self.gated.pods("web"):
            if pod.active and pod.spec.node_name:
                groups[pod.controller.kind if pod.controller else ""].append(pod)
        for kind, pods in groups.items():
            wanted = self.replicas if kind == "ReplicaSet" else 0
            for pod in pods if len(pods) >= max(self.least, wanted) else ():
                if pod.uid in self.old:
                    self.gated.drainer("vpa-updater").evict(pod.name, "default", again=False)

    def run(self, visits: int) -> int:
        """Come until it has got all; how many visits that took."""
        for visit in range(visits):
            if not self.left:
                return visit
            self.visit()
            for _ in range(EVERY):
                self.gated.clock.advance(timedelta(seconds=1))
                self.made |= {pod.uid for pod in self.gated.pods("web")}
        assert not self.left, f"{len(self.left)} of {len(self.old)} pods are left"
        return visits


def given(gated: Gated, replicas: int, starts: int) -> None:
    """A Deployment on s1 whose pods take so many seconds to start; o1 has room for all."""
    annotations = {"evenkeel.test/ready-after": f"{starts}s"}
    web = deployment("web", replicas, pod={"annotations": annotations})
    gated.given(web, spare="o1", settle=starts + 5)


@pytest.mark.parametrize("starts", [2, 40, 100])
@pytest.mark.parametrize("replicas", [2, 3, 10])
def test_it_gets_all_pods_and_none_is_missing(gated: Gated, replicas: int, starts: int) -> None:
    given(gated, replicas, starts)
    updater = Updater(gated)
    assert updater.run(visits=5) <= 3
    assert gated.lowest("web") == replicas
    assert len(updater.made) <= 3 * replicas


def test_it_gets_a_single_pod_where_it_may_ask_for_one(gated: Gated) -> None:
    """``minReplicas: 1`` of a VerticalPodAutoscaler: then the Deployment's group of one counts."""
    given(gated, 1, 2)
    updater = Updater(gated, least=1)
    assert updater.run(visits=5) <= 2
    assert gated.lowest("web") == 1


def test_a_released_pod_that_it_leaves_out_is_finished_all_the_same(gated: Gated) -> None:
    """One pod is old: released, it is alone in its group, which is too small to be asked for."""
    given(gated, 3, 2)
    updater = Updater(gated)
    updater.old = {gated.pods("web")[0].uid}
    assert updater.run(visits=5) <= 4
    assert gated.lowest("web") == 3
    assert len(updater.made) <= 3 + 2
