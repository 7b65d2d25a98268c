"""Whether functions are deployed that act: their schedule notes on the Lease when it came.

A command that can hand over as well reads that, and leaves the work to the functions: they have AWS
to ask, and the settings of their stack.
"""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.errors import NotFoundError
from evenkeel.flows import home
from evenkeel.flows.drain.lease.wire import question
from evenkeel.flows.reads import answer, ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Patch
from evenkeel.model.times import sound_time, to_micro_time
from evenkeel.ports import Cluster

DEPLOYED_FOR: Final = timedelta(seconds=150)
"""How long the schedule's note counts.

It comes every minute, and one of its invocations may be lost.
"""


def note_schedule(cluster: Cluster, now: datetime) -> None:
    """Note that the schedule came; the Lease is made where there is none. Raises ClusterError."""
    metadata = Metadata(
        name=names.HANDOVER_LEASE,
        namespace=names.SYSTEM_NAMESPACE,
        annotations={names.SCHEDULED_AT: to_micro_time(now)},
    )
    body = {"metadata": {"annotations": metadata.annotations}}
    (reply,) = cluster.perform([Patch(Lease, metadata.name, body, metadata.namespace)])
    if isinstance(reply.error, NotFoundError):
        (reply,) = home.perform(cluster.perform, [Create(Lease(metadata=metadata))])
    answer(reply)


def are_deployed(cluster: Cluster, now: datetime) -> bool:
    """Whether the schedule of functions that act came lately. Raises ClusterError."""
    lease = ask_for_one(cluster, question(0))
    noted = (
        None if lease is None else sound_time(lease.metadata.annotations.get(names.SCHEDULED_AT))
    )
    return noted is not None and abs(now - noted) <= DEPLOYED_FOR
