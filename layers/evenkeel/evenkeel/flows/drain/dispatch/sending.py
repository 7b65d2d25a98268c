"""Sending: which steps of the plans are written now, and in which order, while there is room."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain.agenda import Slot
from evenkeel.flows.drain.dispatch.approving import Approvals
from evenkeel.flows.drain.dispatch.forcing import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.releasing import Releases
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.model.decision import Decision, Verb

COOLDOWN_FIRST_FOR = timedelta(seconds=5)
"""How long a rollback waits for the cooldown of its workload to be written."""


class Sender:
    """Sends the steps of the plans; a step that finds no room stays planned."""

    def __init__(
        self,
        plans: Plans,
        writer: Writer,
        approvals: Approvals,
        releases: Releases,
        forced: ForcedEvictions,
    ) -> None:
        """All of them are the invocation's."""
        self._plans = plans
        self._writer = writer
        self._approvals = approvals
        self._releases = releases
        self._forced = forced
        self._cooling_since: dict[str, datetime] = {}

    def send(self, now: datetime, of_nodes: Iterable[Decision]) -> None:
        """Send what may be sent.

        Forced evictions first; then the other steps; then the releases whose turn it is, because a
        pod without a replacement is at risk; then the evictions of pods whose replacement is
        available, which can wait; and the nodes' steps.
        """
        self.send_forced(now, now)
        writing = self._plans.writing.values()
        self._submit(step for steps in writing for step in self._in_order(steps, now))
        self._releases.release(now)
        if self._writer.room:
            self._submit(self._approvals.steps(now))
            self._submit(of_nodes)

    def send_forced(self, now: datetime, by: datetime) -> None:
        """Send the forced evictions that have to begin by a time."""
        if self._writer.room_for_last_moments:
            self._submit(slot.step(by) for slot in self._forced_slots(now, by))

    def forced_wait(self, now: datetime, by: datetime) -> bool:
        """Whether a forced eviction that has to begin by a time could not be sent yet."""
        return any(self._forced_slots(now, by))

    def _forced_slots(self, now: datetime, by: datetime) -> Iterator[Slot]:
        """The slots that are due by a time, but for those that were sent, or whose pod rests."""
        may_write = self._writer.may_write
        due = self._forced.due(now, by)
        return (slot for slot in due if may_write(slot.forced.pod.uid, forced=True))

    def _submit(self, steps: Iterable[Decision]) -> None:
        """Send as many of these as there is room for."""
        writer = self._writer
        for step in steps:
            if writer.submit(step):
                continue
            if (writer.room_for_last_moments if step.forced else writer.room) == 0:
                break

    def _in_order(self, steps: Sequence[Decision], now: datetime) -> Sequence[Decision]:
        """Those of a workload's steps that may be taken now.

        A workload's cooldown is written before its pods go back: once they are back no object
        shows any more that it needs one. The wait for that write is bounded.
        """
        cool_down = next((step for step in steps if step.verb is Verb.COOL_DOWN), None)
        if cool_down is None:
            return steps
        since = self._cooling_since.setdefault(cool_down.subject.uid, now)
        if now - since >= COOLDOWN_FIRST_FOR:
            return steps
        return [step for step in steps if step.verb is not Verb.ROLL_BACK]
