"""A tenant makes thousands of pods that say they were released: the pods of others move in time."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from evenkeel.model import names
from evenkeel.model.request import Evict, Patch, Request
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.wire import Asked
from tests.kit.manifests import Manifest, resource

pytestmark = pytest.mark.nightly

FORGED: Final = 3_000
SIZES: Final = {"web": 4} | {f"one-{number}": 1 for number in range(20)}
DYING: Final = ("a", "b", "c")
OTHERS: Final = ("x", "y", "z")
SOON: Final = 60.0
WORK: Final = 4
"""So many requests about each of his pods, and about what it names, are made at most."""


def _forged(site: Site, number: int) -> Manifest:
    """A pod on a node that nobody knows.

    A third bears no note, a third names workloads that never were, each another one, and a third
    all the same workload.
    """
    now = site.clock.now()
    release = {
        "v": 1,
        "reason": "interruption",
        "since": str(now),
        "deadline": str(now + timedelta(seconds=30 + number / 100)),
        "wanted": 1,
        "controller": f"made-up-{number}",
        "controllerUid": f"made-up-{number if number % 3 else 0}",
    }
    return resource(
        "Pod",
        f"forged-{number}",
        "",
        labels={"app": "forged", names.RELEASED_FROM: f"hash-{number}"},
        notes={names.RELEASE: json.dumps(release)} if number % 3 < 2 else {},
        spec={
            "containers": [{"name": "main", "image": "main"}],
            "nodeName": f"made-up-{number}",
            "terminationGracePeriodSeconds": 0,
        },
    )


@pytest.fixture
def tenant(site: Site) -> Iterator[str]:
    """The namespace with these pods. The controllers delete them after 40 s: no node is theirs."""
    site.add_nodes(*DYING)
    site.apply(budget("web", minAvailable=4))
    site.run(*(deployment(name, size) for name, size in SIZES.items()))
    site.add_nodes(*OTHERS, spot=False)
    with site.control_plane.namespace() as name, ThreadPoolExecutor(6) as threads:
        path = f"api/v1/namespaces/{name}/pods"

        def make(number: int) -> Any:
            return site.control_plane.request("POST", path, _forged(site, number))

        list(threads.map(make, range(FORGED)))
        yield name
        while site.control_plane.pods(name):  # all in one request would take too long
            site.control_plane.request("DELETE", f"{path}?limit=300", {"gracePeriodSeconds": 0})


def _is_about(request: Request, namespace: str) -> bool:
    return getattr(getattr(request, "reference", None), "namespace", "") == namespace


def test_thousands_that_say_they_were_released_hold_no_other_up(site: Site, tenant: str) -> None:
    evenkeel = site.deploy()
    evenkeel.notify(*map(site.warning, DYING))
    for name, size in SIZES.items():
        site.wait_for(f"{name} elsewhere", partial(site.is_settled, name, size, *OTHERS), SOON)
    assert {name: site.witness.lowest(name) for name in SIZES} == SIZES

    asked = [*evenkeel.cluster.asked]
    mine = [each for each in asked if _is_about(each.request, site.namespace)]
    his = [each for each in asked if _is_about(each.request, tenant)]
    released = [each for each in mine if isinstance(each.request, Patch)]
    gone = [each for each in mine if isinstance(each.request, Evict)]
    assert len(released) == len(gone) == sum(SIZES.values())
    assert len(_before(his, released[-1])) < FORGED / 10
    assert len(asked) < WORK * FORGED
    told = [each for each in evenkeel.recorder.decisions if each.subject.namespace == tenant]
    assert len(told) <= 2 * FORGED
    assert len(evenkeel.recorder.notes) < FORGED / 10
    assert evenkeel.recorder.total("PlansFailed") == 0


def _before(some: list[Asked], other: Asked) -> list[Asked]:
    return [each for each in some if each.at < other.at]
