"""Whether the pods of a ReplicaSet go in turns, because a quota refuses it a second pod."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import msgspec

from evenkeel.decisions.drain.counts import Counts
from evenkeel.model.pod import Pod
from evenkeel.model.quota_note import QuotaNote

A_QUOTA_REFUSES: Final = "a quota refuses a second pod beside it"


class QuotaTurns(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a ReplicaSet notes of a quota that refuses it pods, and what follows.

    ``going``: its pods that are being deleted and not gone, where a quota refuses others.
    """

    counts: Counts
    going: Sequence[Pod] = ()

    @property
    def last_note(self) -> QuotaNote | None:
        """The ReplicaSet's last note."""
        replica_set = self.counts.owner.replica_set
        return replica_set.quota_note if replica_set is not None else None

    @cached_property
    def open_note(self) -> QuotaNote | None:
        """The ReplicaSet's note, while it says that pods go in turns (see ``turns``)."""
        note = self.last_note
        return None if note is None or note.until is None or note.is_over(self.counts.now) else note

    @cached_property
    def in_turns(self) -> QuotaNote | None:
        """``open_note``; None in a rollout, and where the quota has room: pods are handed over."""
        in_rollout = self.counts.owner.deployment_in_rollout is not None
        return None if in_rollout or self.has_room else self.open_note

    @cached_property
    def has_room(self) -> bool:
        """Whether more pods are there than when turns began: the quota has let one more be made.

        A terminating pod still counts in the quota. One past its grace period is not counted here,
        because the quota may have dropped it already: it does so where a dead node holds the pod.
        A finished pod is not among those that are going, and no quota counts it.
        """
        note, now = self.open_note, self.counts.now
        leaving = (pod.ends_at is None or now < pod.ends_at for pod in self.going)
        return note is not None and self.staying + sum(leaving) > note.pods

    @property
    def staying(self) -> int:
        """How many pods are there and stay for now: owned ones, and released ones."""
        return len(self.counts.owned) + len(self.counts.released)
