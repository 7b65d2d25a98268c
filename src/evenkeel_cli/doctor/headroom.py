"""Whether headroom that was asked for is there, and whether single replicas have any."""

from collections.abc import Iterator, Sequence

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import CapacityLabels
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.doctor.findings import Finding, broken, fine, not_looked
from evenkeel_cli.headroom import present, sizing, wording
from evenkeel_cli.headroom.present import Present
from evenkeel_cli.headroom.sizing import Need
from evenkeel_cli.program import NAME

LINK = "headroom"


def look(cluster: Cluster, clock: Clock, labels: CapacityLabels) -> Iterator[Finding]:
    """Read all workloads, and judge. Raises ClusterError."""
    snapshot = read(cluster, clock, Terms(), Scope(capacity_labels=labels))
    yield from judge(present.find(cluster, snapshot), sizing.of_singles(snapshot))


def judge(found: Sequence[Present], singles: Need) -> Iterator[Finding]:
    """Each form of headroom by itself; without any it is advised where single replicas need it."""
    for each in found:
        yield broken(LINK, str(each), each.remedy) if each.lack else fine(LINK, str(each))
    if found:
        return
    if singles.room.placeholders:
        advice = f"give them a floor, or room: {NAME} headroom --reserved (docs/headroom.md)"
        yield not_looked(LINK, f"none is seen: {wording.of_singles(singles)}", advice)
    else:
        yield fine(LINK, "none is seen, and no single replica needs any")
