"""Whether deployed functions look after the cluster: their schedule notes when it came.

The note is an annotation on the reconciler's Lease. A command that can hand over as well reads it,
and leaves the work to the functions: they have AWS to ask, and the settings of their stack.
"""

from datetime import datetime, timedelta

from evenkeel.errors import NotFoundError
from evenkeel.flows.reads import answer, ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Get, Patch
from evenkeel.model.times import sound_time, to_micro_time
from evenkeel.ports import Cluster

VALID = timedelta(seconds=150)
"""How long the note counts. The schedule comes every minute; one of its invocations may be lost."""


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
        (reply,) = cluster.perform([Create(Lease(metadata=metadata))])
    answer(reply)


def are_deployed(cluster: Cluster, now: datetime) -> bool:
    """Whether the schedule of functions that act came lately. Raises ClusterError."""
    lease = ask_for_one(cluster, Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE))
    noted = (
        None if lease is None else sound_time(lease.metadata.annotations.get(names.SCHEDULED_AT))
    )
    return noted is not None and abs(now - noted) <= VALID
