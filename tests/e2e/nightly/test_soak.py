"""Two hundred small storms, one after the other, through one process: nothing grows.

It takes some nine minutes.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.polling import polling
from tests.kit import moto_server as aws
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.nightly

STORMS: Final = 200
WARM: Final = 50
"""So many storms until all is loaded, open and filled that a process keeps."""
SIZES: Final = {"web": 3, "one": 1, "two": 1}
MEMORY: Final = 1.05
"""A process may take so much more memory in the end than when it was warm."""
AT_ONCE: Final = 8
"""So many threads, each with a connection, may be made late: pools grow when many are busy."""
LEASE: Final = ("coordination.k8s.io/v1", "Lease")
KINDS: Final = (("v1", "Pod"), ("apps/v1", "ReplicaSet"), ("apps/v1", "Deployment"), ("v1", "Node"))


class Taken(NamedTuple):
    """What a process has: kB of memory, open files, threads."""

    memory: int
    files: int
    threads: int


def taken(pid: int) -> Taken:
    """What it has now."""
    folder = Path(f"/proc/{pid}")
    found = re.search(r"VmRSS:\s+(\d+) kB", (folder / "status").read_text())
    assert found is not None
    files, threads = (len([*(folder / each).iterdir()]) for each in ("fd", "task"))
    return Taken(int(found[1]), files, threads)


def left(plane: ControlPlane, namespace: str) -> Sequence[str]:
    """What bears a label, an annotation or a taint of Evenkeel's, and its Leases."""
    leases = plane.items(*LEASE, names.SYSTEM_NAMESPACE)
    found = [f"Lease {each['metadata']['name']}" for each in leases]
    for api_version, kind in KINDS:
        for each in plane.items(api_version, kind, "" if kind == "Node" else namespace):
            metadata = each["metadata"]
            taints = [taint["key"] for taint in each["spec"].get("taints", ())]
            keys = (*metadata.get("labels", ()), *metadata.get("annotations", ()), *taints)
            mine = [key for key in keys if key.startswith("evenkeel.dev/")]
            found += [f"{kind} {metadata['name']}: {mine}"] if mine else []
    return found


def test_two_hundred_storms_in_a_row_leave_nothing(site: Site, tmp_path: Path) -> None:
    plane, after, notes = site.control_plane, list[Taken](), list[int]()
    with aws.started() as queues:
        here = _added(site, queues)
        site.apply(budget("web", minAvailable=3), budget("one", minAvailable=1))
        site.run(*(deployment(name, size, start="0s", stop="0s") for name, size in SIZES.items()))
        with polling(site.control_plane, queues, tmp_path / "log") as poll:
            for number in range(STORMS):
                here = _stormed(site, queues, here, number)
                after.append(taken(poll.process.pid))
                lease = plane.get(*LEASE, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
                notes.append(len(str(lease["metadata"]["annotations"])))
            assert left(plane, site.namespace) == [f"Lease {names.HANDOVER_LEASE}"]
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
    there = _added(site, queues)
    queues.send([aws.warning(here[0], SystemClock().now())])
    for name, size in SIZES.items():
        site.wait_for(f"{name} to go in storm {number}", partial(_is_on, site, name, size, there))
    queues.terminate([here[0]])
    site.control_plane.delete_node(here[1])
    return there


def _added(site: Site, queues: aws.Aws) -> tuple[str, str]:
    """An instance and its node."""
    (instance_id,) = queues.launch(1)
    name = queues.dns_names([instance_id])[instance_id]
    site.control_plane.add_node(name, spot=True, provider_id=f"aws:///eu-central-1a/{instance_id}")
    return instance_id, name


def _is_on(site: Site, name: str, size: int, there: tuple[str, str]) -> bool:
    """Whether all pods of a workload, and no others, are ready on this node."""
    pods = site.witness.pods(app=name)
    nodes = {pod["spec"].get("nodeName") for pod in pods}
    return len(pods) == site.witness.ready(name) == size and nodes == {there[1]}
