"""What a replay is asked to do, whatever the cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenkeel.model.notice import Concern, Notice
from evenkeel.ports import Clock, Recorder
from evenkeel.settings import Mode
from evenkeel_cli.binding import Wish
from evenkeel_cli.decision_file import DecisionLog, Lines
from evenkeel_sandbox.application import CLUSTER_NAME
from evenkeel_sandbox.events import Arriving


@dataclass(frozen=True, slots=True)
class Task:
    """The events in the order in which they were read, and what the person said about them.

    ``namespace`` limits what is reported; ``log`` is where the decision log goes.
    """

    arriving: Sequence[Arriving]
    wish: Wish
    keep_time: bool = False
    namespace: str = ""
    log: Lines | None = None

    @property
    def notices(self) -> list[Notice]:
        """The notices among the events."""
        return [notice for event in self.arriving for notice in event.notices]

    def of(self, concern: Concern, instance_ids: Iterable[str]) -> frozenset[str]:
        """Those of these instances that events concern in such a way, as if it were true."""
        known = {notice.instance_id for notice in self.notices if notice.concerns is concern}
        return frozenset(known.intersection(instance_ids))

    def recorders(self, clock: Clock, mode: Mode) -> list[Recorder]:
        """Who else should hear of the decisions: the decision log, if there is one."""
        if self.log is None:
            return []
        return [DecisionLog(self.log, clock, cluster=CLUSTER_NAME, mode=mode)]
