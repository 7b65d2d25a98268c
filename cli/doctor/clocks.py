"""Clocks: the one here and the reconciler's, against the API server's."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from cli.doctor.api_server import ApiServer
from cli.doctor.findings import Finding, broken, fine, not_looked, unknown
from evenkeel.flows.asking import ask_for_one
from evenkeel.model import names
from evenkeel.model.request import Get
from evenkeel.model.surroundings import Lease
from evenkeel.ports import Clock, Cluster

HERE = "clock here"
RECONCILER = "clock of the reconciler"
TOLERANCE: Final = timedelta(seconds=5)
"""A last moment is computed to the second, and has no more to spare than this."""


def look(cluster: Cluster, server: ApiServer, clock: Clock) -> Iterator[Finding]:
    """Read the API server's time and the Lease. Raises ClusterError."""
    lease = ask_for_one(cluster, Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE))
    theirs = server.read("/version", "get /version").date
    yield judge_here(clock.now(), theirs)
    yield judge_reconciler(lease, theirs)


def judge_here(now: datetime, theirs: datetime | None) -> Finding:
    """Whether the clock here is right: drains from here go by it, and so do AWS's signatures."""
    if theirs is None:
        return unknown(HERE, "the API server tells no time", "compare the clocks by hand")
    skew = now - theirs
    seconds = round(abs(skew).total_seconds())
    if abs(skew) <= TOLERANCE:
        return fine(HERE, "within seconds of the API server's")
    side = "ahead of" if skew > timedelta() else "behind"
    return broken(HERE, f"it is {seconds} s {side} the API server's", "set it by NTP")


def judge_reconciler(lease: Lease | None, theirs: datetime | None) -> Finding:
    """Whether the Lease was renewed in what is still the future for the API server."""
    renewed = lease.held_since if lease is not None else None
    if renewed is None or theirs is None:
        return not_looked(RECONCILER, "no Lease tells its time: nothing was handed over yet")
    ahead = renewed - theirs
    if ahead <= TOLERANCE:
        return fine(RECONCILER, "its Lease was renewed in the API server's past")
    return broken(
        RECONCILER,
        f"its Lease was renewed {round(ahead.total_seconds())} s ahead of the API server's clock",
        "set the clock of the host that holds it by NTP; on Lambda this is not expected",
    )
