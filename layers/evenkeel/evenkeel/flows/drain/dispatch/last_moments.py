"""Pods at their last moment whose eviction was refused: what is sent in its place."""

from datetime import datetime

import msgspec

from evenkeel.decisions.drain.refusal import after_refusal, is_kept, leave
from evenkeel.errors import ClusterError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.model.decision import Decision, Verb


class _Refused(msgspec.Struct, frozen=True):
    """An eviction, why it was refused, and whether a Job's pod may still get its condition."""

    eviction: Decision
    error: ClusterError
    sets_condition: bool = True


class LastMoments:
    """The eviction of a pod at its last moment is tried once: then the pod is deleted.

    Only a pod whose owner says so stays, and its eviction is tried on.
    """

    def __init__(self, view: View, once: OnceRecorder) -> None:
        self._view = view
        self._once = once
        self._refused: dict[str, _Refused] = {}

    def refused(self, decision: Decision, error: ClusterError) -> bool:
        """A write was refused; whether another one takes its place."""
        pod = self._view.pods.get(decision.subject.uid)
        if pod is None or not decision.forced:
            return False
        owner, before = self._view.owners.of(pod), self._refused.get(pod.uid)
        if decision.verb is Verb.EVICT and is_kept(pod, owner):
            self._once.record([leave(pod, owner)])
        elif decision.verb is Verb.EVICT:
            self._refused[pod.uid] = _Refused(decision, error)
            return True
        elif decision.verb is Verb.SET_CONDITION and before is not None:
            self._refused[pod.uid] = msgspec.structs.replace(before, sets_condition=False)
            return True
        return False

    def eviction_of(self, uid: str) -> Decision | None:
        """The eviction of a pod that was refused; None if none was."""
        refused = self._refused.get(uid)
        return None if refused is None else refused.eviction

    def next_step(self, decision: Decision, now: datetime) -> Decision:
        """What is sent for a decision: of an eviction that was refused, what takes its place."""
        uid = decision.subject.uid
        pod, refused = self._view.pods.get(uid), self._refused.get(uid)
        if pod is None or refused is None or decision.verb is not Verb.EVICT or not decision.forced:
            return decision
        after = after_refusal(
            pod,
            self._view.owners.of(pod),
            now,
            refused.error,
            sets_condition=refused.sets_condition,
        )
        return msgspec.structs.replace(after, forced=True)
