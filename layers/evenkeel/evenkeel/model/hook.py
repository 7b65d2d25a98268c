"""Lifecycle hooks: an Auto Scaling group waits before it terminates an instance.

https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Final

import msgspec

from evenkeel.model.names import is_subdomain
from evenkeel.model.notes import read_note

SHORTEST, LONGEST = 30, 7_200
"""The seconds that a heartbeat timeout can have.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html
"""


class Hook(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One instance's termination that waits for a hook, as its node's mark keeps it.

    ``group`` and ``name`` are the group's and the hook's, ``token`` tells this termination from
    others. ``heartbeat``, in seconds, is after how long without a heartbeat the group goes on; 0 is
    not known yet. ``is_over``: it waits no more, or was told to go on.
    """

    group: str
    name: str
    token: str
    heartbeat: int = 0
    is_over: bool = False

    @property
    def beat_every(self) -> timedelta:
        """How often a heartbeat is sent: two may fail.

        Whoever may annotate nodes can have written ``heartbeat``.
        """
        return timedelta(seconds=max(SHORTEST, min(self.heartbeat, LONGEST))) / 3


class HookTimes(msgspec.Struct, frozen=True):
    """How long a group waits for a hook: ``heartbeat`` after the last sign of life, and in all."""

    heartbeat: timedelta
    longest: timedelta


class Termination(msgspec.Struct, frozen=True, rename="camel"):
    """A termination that waits for a hook, and the instance that it is about.

    ``node`` is the name of the instance's node; empty: it has none.
    """

    hook: Hook
    instance_id: str
    node: str = ""


MOST_NOTED: Final = 32
"""So many terminations the Lease keeps: with the longest names they are 30 kB."""


def noted(waiting: Iterable[Termination]) -> str:
    """Terminations as the Lease has them: JSON; empty for none."""
    some = list(islice(waiting, MOST_NOTED))
    return msgspec.json.encode(some).decode() if some else ""


def waiting_in(note: str | None) -> Mapping[str, Termination]:
    """Those that the Lease has and that can be, by their instances' ids.

    Anybody with the right to write the Lease can have written them.
    """
    found = read_note(note, tuple[Termination, ...]) or ()
    return {each.instance_id: each for each in found[:MOST_NOTED] if is_subdomain(each.node)}
