"""Sending: what of the plans may be written now, in which order, as far as there is room."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.flows.handover.approving import Approvals
from evenkeel.flows.handover.plans import Plans
from evenkeel.flows.handover.releasing import Releases
from evenkeel.flows.handover.view import View
from evenkeel.flows.handover.writing import Writer
from evenkeel.model.decision import Decision, Verb

COOLDOWN_FIRST_FOR = timedelta(seconds=5)
"""How long a rollback waits for the cooldown of its workload to be written."""


class Sender:
    """Sends the steps of the plans; what finds no room stays planned."""

    def __init__(
        self, view: View, plans: Plans, writer: Writer, approvals: Approvals, releases: Releases
    ) -> None:
        """All of them are the invocation's."""
        self._view = view
        self._plans = plans
        self._writer = writer
        self._approvals = approvals
        self._releases = releases
        self._cooling_since: dict[str, datetime] = {}

    def send(self, now: datetime, of_nodes: Iterable[Decision]) -> set[str]:
        """Send what may be sent. The controllers that have to be planned for before a release.

        Last moments first, in the order in which they have to be told; then the other steps, then
        the releases whose turn it is, which leave half of the room to what is approved, and the
        nodes' steps.
        """
        writer = self._writer
        if writer.room_for_last_moments:
            steps = [step for each in self._plans.writing for step in self._in_order(each, now)]
            forced = self._first_told_first(steps, now)
            self._submit((*forced, *(step for step in steps if not step.forced)))
        approved = self._approvals.steps(now)
        stale = self._releases.release(now, min(len(approved), writer.room // 2))
        self._submit((*approved, *of_nodes))
        return stale

    def send_last_moments(self, now: datetime) -> None:
        """Send what cannot wait: neither until everything was seen, nor for the next invocation."""
        self._submit(self._first_told_first(self._planned, now))

    @property
    def last_moments_wait(self) -> bool:
        """Whether a last moment was planned for that could not be sent yet."""
        may_write = self._writer.may_write
        return any(
            may_write(step.subject.uid, forced=True) for step in self._planned if step.forced
        )

    @property
    def _planned(self) -> Iterator[Decision]:
        return (step for each in self._plans.writing for step in each)

    def _submit(self, steps: Iterable[Decision]) -> None:
        """Send as many of these as there is room for; the last moments among them are first."""
        writer = self._writer
        for step in steps:
            if writer.submit(step):
                continue
            if (writer.room_for_last_moments if step.forced else writer.room) == 0:
                break

    def _first_told_first(self, steps: Iterable[Decision], now: datetime) -> Sequence[Decision]:
        """The last moments among these steps, in the order in which they have to be told."""
        forced = (step for step in steps if step.forced)
        return sorted(forced, key=lambda step: self._told_by(step, now))

    def _told_by(self, step: Decision, now: datetime) -> datetime:
        """By when the pod of a step has to be told to go; now if its node lives again."""
        notice = self._view.dooms.get(step.node)
        pod = self._view.pods.get(step.subject.uid)
        return now if notice is None or pod is None else node_deadline(notice).told_by(pod)

    def _in_order(self, steps: Sequence[Decision], now: datetime) -> Sequence[Decision]:
        """Those of a workload's steps that may be taken now.

        A workload's cooldown is written before its pods go back: once they are back nothing
        tells any more that it needs a rest. But it is not waited for without end.
        """
        cool_down = next((step for step in steps if step.verb is Verb.COOL_DOWN), None)
        if cool_down is None:
            return steps
        since = self._cooling_since.setdefault(cool_down.subject.uid, now)
        if now - since >= COOLDOWN_FIRST_FOR:
            return steps
        return [step for step in steps if step.verb is not Verb.ROLL_BACK]
