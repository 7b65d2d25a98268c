"""Restore's moves: what is noted of them on the workload, and how the webhook learns of one.

A move of a controller's pod is a Lease in Evenkeel's namespace, ``evenkeel-move-<its uid>``, with
the label ``evenkeel.dev/move-of``. Its holder is the uid of the pod that is moved; it expires with
the pod's release, and the first new pod of the controller that takes it has to be of the capacity
type that it names. There is one per controller: its conditional writes let two restores at once
begin one move.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.meta import Metadata, Reference
from evenkeel.model.notes import VERSION, Note, read_note
from evenkeel.model.pool import Pool, noted, pools_in
from evenkeel.model.release import CLOCK_SKEW
from evenkeel.model.times import to_micro_time

PER_RUN: Final = 50
"""How many pods one run of restore moves, unless a setting says another number."""

LONGEST: Final = 86_400
"""Seconds that a move may last: as long as a release."""


type Domains = Mapping[str, tuple[str, ...]]
"""Values of node labels, by the labels' keys."""


class Move(msgspec.Struct, frozen=True):
    """A move as its Lease has it. ``taken_by``: the admission of the pod that was made for it.

    ``without_room``: no node had room for that pod when the move began. ``avoid``: it may be in
    none of these pools, and ``barred``: on no node with one of these labels.
    """

    pod_uid: str
    pod_name: str
    target: Capacity
    since: datetime
    until: datetime
    taken_by: str
    lease: Lease
    without_room: bool = False
    avoid: tuple[Pool, ...] = ()
    barred: Domains = {}

    def is_open(self, now: datetime) -> bool:
        """Whether it has begun, as far as clocks agree, and has not come to its end."""
        return self.since <= now + CLOCK_SKEW and now < self.until


def move_name(controller_uid: str) -> str:
    """The name of the Lease that describes a controller's move."""
    return f"{names.MOVE_PREFIX}{controller_uid}"


def new_move(  # noqa: PLR0913 - what its Lease says, each once
    controller: Reference,
    pod: Reference,
    target: Capacity,
    at: datetime,
    until: datetime,
    *,
    without_room: bool = False,
    avoid: Sequence[Pool] = (),
    barred: Domains | None = None,
) -> Lease:
    """The Lease that describes a move from ``at`` to ``until``."""
    time = to_micro_time(at)
    more = {names.WITHOUT_ROOM: names.TRUE} if without_room else {}
    more |= {names.NOT_IN_POOLS: noted(avoid)} if avoid else {}
    more |= {names.NOT_IN_DOMAINS: msgspec.json.encode(barred).decode()} if barred else {}
    return Lease(
        metadata=Metadata(
            name=move_name(controller.uid),
            namespace=names.SYSTEM_NAMESPACE,
            labels={names.MOVE_OF: controller.uid},
            annotations={
                names.CLAIM_FOR: str(controller),
                names.CAPACITY: target.value,
                names.MOVED_POD: pod.name,
                **more,
            },
        ),
        spec=LeaseSpec(
            holder_identity=pod.uid,
            lease_duration_seconds=max(1, round((until - at).total_seconds())),
            acquire_time=time,
            renew_time=time,
        ),
    )


def move_of(lease: Lease) -> Move | None:
    """The move that a Lease describes; None if that makes no sense."""
    spec, annotations = lease.spec, lease.metadata.annotations
    since = lease.held_since
    target = annotations.get(names.CAPACITY, "")
    if since is None or target not in Capacity or not spec.holder_identity:
        return None
    lasts = timedelta(seconds=max(0, min(spec.lease_duration_seconds or 0, LONGEST)))
    taken_by = annotations.get(names.TAKEN_BY, "")
    name = annotations.get(names.MOVED_POD, "")
    until = since + lasts
    return Move(
        spec.holder_identity,
        name,
        Capacity(target),
        since,
        until,
        taken_by,
        lease,
        without_room=annotations.get(names.WITHOUT_ROOM) == names.TRUE,
        avoid=pools_in(annotations.get(names.NOT_IN_POOLS)),
        barred=_domains_in(annotations.get(names.NOT_IN_DOMAINS)),
    )


def _domains_in(note: str | None) -> Domains:
    """The domains that a note names, as far as labels of nodes can say them."""
    found = read_note(note, dict[str, tuple[str, ...]]) or {}
    sound = {key: tuple(filter(names.is_label_value, values)) for key, values in found.items()}
    return {key: values for key, values in sound.items() if values and names.is_label_key(key)}


def believed_move(lease: Lease, now: datetime) -> Move | None:
    """The move that a Lease describes, past or present; None if it cannot be true by now.

    Anybody who may write Leases there may have made it up. The webhook finds it by its name, and
    restore by its label, so these have to agree.
    """
    move = move_of(lease)
    if move is None or lease.name != move_name(lease.metadata.labels.get(names.MOVE_OF, "")):
        return None
    return move if move.since <= now + CLOCK_SKEW else None


class Restored(Note, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation ``evenkeel.dev/restored`` of a workload: restore's last move of it.

    ``pod`` is the pod's name. ``spot`` is how many of the workload's pods are on spot nodes if the
    move succeeds: fewer later say that spot did not last. ``most`` is how many the fullest node had
    when the first move of the last day began.
    """

    key: ClassVar = names.RESTORED

    v: int = VERSION
    at: datetime
    target: Capacity
    pod: str
    spot: int = 0
    most: int = 0
