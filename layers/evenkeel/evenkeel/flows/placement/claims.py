"""The Leases that keep places of floors until their pods are there: claiming and sweeping."""

from datetime import datetime, timedelta
from typing import Final
from zlib import crc32

import msgspec

from evenkeel.decisions.placement.floor_count import Free
from evenkeel.errors import ChangedError, NotFoundError
from evenkeel.flows import home
from evenkeel.flows.reads import ask
from evenkeel.flows.sweeping import delete_all
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.meta import Reference
from evenkeel.model.placement import claim_spec, new_claim
from evenkeel.model.request import Create, List, Operation, Selection, Write, patch_as_read
from evenkeel.ports import Cluster

TRIES: Final = 3
"""How many slots are tried before one looks again which are free."""

CLAIM_SWEPT_AFTER: Final = timedelta(minutes=2)
"""A claim that old is of no use: its pod is there, or will never be. No review that reads claims
and pods at the same time misses both by then."""


def take(
    cluster: Cluster,
    controller: Reference,
    free: Free,
    holder: str,
    now: datetime,
) -> int | None:
    """Claim a slot that is free; the slot, or None if others took those that were tried.

    Each review begins elsewhere, so that many at once seldom meet. Raises ClusterError where the
    API server refuses or does not answer: the claim may be there then, under ``holder``.
    """
    first = crc32(holder.encode())
    for position in range(first, first + min(TRIES, free.offered)):
        slot = free.slot(position % free.offered)
        # Of several writes by which a slot is taken only one can succeed.
        write: Write = Create(new_claim(controller, slot, holder, now))
        if (left_over := free.claims.get(slot)) is not None:
            spec = claim_spec(holder, now, left_over.lease.spec.lease_transitions + 1)
            taken = Operation("add", "/spec", msgspec.to_builtins(spec))
            write = patch_as_read(left_over.lease, taken)
        (reply,) = home.perform(cluster.perform, [write])
        if reply.error is None:
            return slot
        if not isinstance(reply.error, ChangedError | NotFoundError):
            raise reply.error
    return None


def selection(controller_uid: str) -> Selection[Lease]:
    """The claims on the floor of one controller."""
    return Selection(Lease, names.SYSTEM_NAMESPACE, labels=f"{names.CLAIM_OF}={controller_uid}")


def sweep_claims(cluster: Cluster, now: datetime) -> int:
    """Delete claims that are of no use any more; answers how many. Raises ClusterError."""

    def if_old(lease: Lease) -> Lease | None:
        """A claim that was taken long ago, or at an unknown time."""
        since = lease.held_since
        return lease if since is None or abs(now - since) >= CLAIM_SWEPT_AFTER else None

    claims = Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.CLAIM_OF)
    return delete_all(ask(cluster, List(claims, kept=if_old)).items, cluster.perform)
