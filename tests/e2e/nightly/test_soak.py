"""What grows in a process and a cluster by the hour: two hundred small storms, and two hours.

The small storms take some nine minutes.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.nightly import soaking
from tests.e2e.nightly.soaking import LEASE, Rest, Taken, Trouble, added, leases, left, taken
from tests.e2e.polling import polling
from tests.kit import moto_server as aws

pytestmark = pytest.mark.nightly

STORMS: Final = 200
WARM: Final = 50
"""So many storms until all is loaded, open and filled that a process keeps."""
SIZES: Final = {"web": 3, "one": 1, "two": 1}
MEMORY: Final = 1.05
"""A process may take so much more memory in the end than when it was warm."""
AT_ONCE: Final = 8
"""So many threads, each with a connection, may be made late: pools grow when many are busy."""

LASTS: Final = timedelta(hours=2)
HISTORY: Final = 11
"""A Deployment keeps so many ReplicaSets."""
NOTES: Final = {"Lease": 12_000, "Deployment": 600, "ReplicaSet": 6_000, "Pod": 5_000}
"""The bytes of Evenkeel's own notes at most, by kind; of Leases all of their metadata."""


def test_two_hundred_storms_in_a_row_leave_nothing(site: Site, tmp_path: Path) -> None:
    plane, after, notes = site.control_plane, list[Taken](), list[int]()
    with aws.started() as queues:
        here = added(site, queues)
        site.apply(budget("web", minAvailable=3), budget("one", minAvailable=1))
        site.run(*(deployment(name, size, start="0s", stop="0s") for name, size in SIZES.items()))
        with polling(site.control_plane, queues, tmp_path / "log") as poll:
            for number in range(STORMS):
                here = _stormed(site, queues, here, number)
                after.append(taken(poll.process.pid))
                lease = plane.get(*LEASE, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
                notes.append(len(str(lease["metadata"]["annotations"])))
            assert left(plane, site.namespace) == {}
            kept = [each["metadata"]["name"] for each in leases(plane)]
            assert kept == [names.HANDOVER_LEASE]
            assert poll.end() == 0
    assert {name: site.witness.lowest(name) for name in SIZES} == SIZES
    warm, end = after[WARM], after[-1]
    assert end.memory <= MEMORY * warm.memory, after[:: STORMS // 20]
    for what in ("files", "threads"):
        first, last = after[: 2 * WARM], after[-WARM:]
        assert _most(what, last) <= _most(what, first) + AT_ONCE, after[:: STORMS // 20]
    assert max(notes[WARM:]) <= max(notes[:WARM])


def _most(what: str, some: Sequence[Taken]) -> int:
    """The most of these; some are there for a moment alone."""
    return max(int(getattr(each, what)) for each in some)


def _stormed(site: Site, queues: aws.Aws, here: tuple[str, str], number: int) -> tuple[str, str]:
    """The only instance is interrupted once there is another one, which it answers."""
    there = added(site, queues)
    queues.send([aws.warning(here[0], SystemClock().now())])
    for name, size in SIZES.items():
        site.wait_for(f"{name} to go in storm {number}", partial(_is_on, site, name, size, there))
    queues.terminate([here[0]])
    site.control_plane.delete_node(here[1])
    return there


def _is_on(site: Site, name: str, size: int, there: tuple[str, str]) -> bool:
    """Whether all pods of a workload, and no others, are ready on this node."""
    pods = site.witness.pods(app=name)
    nodes = {pod["spec"].get("nodeName") for pod in pods}
    return len(pods) == site.witness.ready(name) == size and nodes == {there[1]}


@pytest.mark.timeout(3 * 3600)
def test_two_hours_of_trouble_leave_nothing_behind(site: Site, tmp_path: Path) -> None:
    with aws.started() as queues, Trouble.opened(site, queues, tmp_path, seed=1) as trouble:
        trouble.go_on(LASTS)
        judge(trouble.rests)


def judge(rests: Sequence[Rest]) -> None:
    """Hold what there was after each storm to what may be; that no pod was missing is seen to."""
    quarter = len(rests) // 4
    for each in rests:
        assert each.objects.keys() == rests[0].objects.keys()
        for kind in each.objects.keys() - {"ReplicaSet"}:
            assert each.objects[kind] == rests[0].objects[kind], kind
        assert each.objects["ReplicaSet"] <= HISTORY * len(soaking.ROLLED)
        assert {kind: size for kind, size in each.notes.items() if size > NOTES.get(kind, 0)} == {}
        assert len(each.leases) <= soaking.LEASES, each.leases
    for name in rests[0].processes:
        after = [each.processes[name] for each in rests]
        warm, end = after[: 2 * quarter], after[-quarter:]
        for what, more in (("memory", 0), ("files", AT_ONCE), ("threads", AT_ONCE)):
            most = _most(what, warm)
            allowed = MEMORY * most if what == "memory" else most + more
            assert _most(what, end) <= allowed, (name, what, after)
