"""Zonal shifts: whether the cluster has any, and whether the reconciler learns of them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from evenkeel.flows.drain.deployed import DEPLOYED_FOR
from evenkeel.flows.reads import ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Get
from evenkeel.model.times import sound_time
from evenkeel.model.zonal_shift import is_known
from evenkeel.ports import Cluster
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked, not_looked, unknown

LINK: Final = "zonal shift"

REMEDY: Final = (
    "see handover's log: its role needs arc-zonal-shift:GetManagedResource, and a private network"
    " an endpoint of that service"
)


def look(stack: Stack, described: Described, cluster: Cluster, now: datetime) -> Iterator[Finding]:
    """Where the cluster has zonal shifts, read what the reconciler noted."""
    yield from looked(LINK, _look, stack, described, cluster, now)


def _look(stack: Stack, described: Described, cluster: Cluster, now: datetime) -> Finding:
    if not described.has_zonal_shift:
        return fine(LINK, "it is not enabled for the cluster: there is none to heed")
    if stack.observes:
        return not_looked(LINK, "Evenkeel only observes, and notes none")
    lease = ask_for_one(cluster, Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE))
    return judge({} if lease is None else lease.metadata.annotations, now)


def judge(notes: Mapping[str, str], now: datetime) -> Finding:
    """Whether the reconciler learns of shifts, by the annotations of its Lease."""
    if is_known(notes.get(names.SHIFTED_ZONES), now):
        return fine(LINK, "it is enabled, and handover asks for shifts once a minute")
    came = sound_time(notes.get(names.SCHEDULED_AT))
    if came is None or abs(now - came) > DEPLOYED_FOR:
        said = "it is enabled, and the schedule of handover noted nothing of late"
        return unknown(
            LINK, said, "see the link calls of handover; during a pause nothing is noted"
        )
    return broken(LINK, "it is enabled, and handover does not learn of shifts", REMEDY)
