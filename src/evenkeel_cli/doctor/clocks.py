"""Clocks: the one here and the reconciler's, against the API server's."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from evenkeel.flows.reads import ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Get
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, not_looked, unknown

HERE = "clock here"
RECONCILER = "clock of the reconciler"
TOLERANCE: Final = timedelta(seconds=5)
"""A last moment is computed to the second, and has no more to spare than this."""

_SECONDS: Final = re.compile("-?[0-9]{1,9}")


def look(cluster: Cluster, server: ApiServer, clock: Clock) -> Iterator[Finding]:
    """Read the API server's time and the Lease. Raises ClusterError."""
    lease = ask_for_one(cluster, Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE))
    theirs = server.read("/version", "get /version").date
    yield judge_here(clock.now(), theirs)
    yield judge_reconciler(lease)


def judge_here(now: datetime, theirs: datetime | None) -> Finding:
    """Whether the clock here is right: drains from here go by it, and so do AWS's signatures."""
    if theirs is None:
        return unknown(HERE, "the API server tells no time", "compare the clocks by hand")
    skew = now - theirs
    if abs(skew) <= TOLERANCE:
        return fine(HERE, "within seconds of the API server's")
    return broken(HERE, f"it is {_apart(skew)}", "set it by NTP")


def judge_reconciler(lease: Lease | None) -> Finding:
    """Whether the reconciler's clock was right when it took the Lease last, as the Lease says."""
    noted = lease.metadata.annotations.get(names.CLOCK_AHEAD, "") if lease is not None else ""
    if not _SECONDS.fullmatch(noted):
        return not_looked(RECONCILER, "no Lease tells of it: nothing was handed over yet")
    skew = timedelta(seconds=int(noted))
    if abs(skew) <= TOLERANCE:
        return fine(RECONCILER, "within seconds of the API server's when it took its Lease")
    return broken(
        RECONCILER,
        f"it was {_apart(skew)} when it took its Lease",
        "set the clock of its host by NTP; on Lambda this is not expected",
    )


def _apart(skew: timedelta) -> str:
    side = "ahead of" if skew > timedelta() else "behind"
    return f"{round(abs(skew).total_seconds())} s {side} the API server's"
