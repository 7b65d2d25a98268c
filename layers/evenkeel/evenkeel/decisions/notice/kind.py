"""What is stated of one kind of event, in the module of that kind."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from evenkeel.decisions.notice.event import Event, Reading
from evenkeel.errors import MalformedNoticeError
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

LONGEST_LEAD: Final = timedelta(days=1)
"""Between an event and its deadline, unless it says when the instance ends (``ends_at``).

Such a notice is a hint until then. Of any other the node is drained from now on until its deadline.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a notice is called and told.

    ``name`` is what marks call it, and a label's value: ``Notice.name``. ``reason`` is the word of
    the decision that marks a node for it, ``announce`` tells what a notice says in half a sentence,
    and ``brief`` in a few words without the instance.
    """

    name: str
    reason: Reason
    announce: Callable[[Notice], str]
    brief: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind(Wording):
    """A kind of event of which notices come.

    ``source`` and ``detail_type`` are EventBridge's; ``concerns`` is of which instances its notices
    are believed. ``parse`` raises MalformedNoticeError. ``times`` names the fields of ``detail``
    that are times: samples and replays are given anew with these moved.
    """

    source: str
    detail_type: str
    concerns: Concern
    parse: Callable[[Event], Reading]
    times: tuple[str, ...] = ()

    def notice(
        self,
        event: Event,
        kind: NoticeKind,
        instance_id: str,
        deadline: datetime,
        *,
        event_id: str = "",
        **more: Any,
    ) -> Notice:
        """What an event of this kind says of an instance; ``more`` are further fields of Notice.

        ``event_id`` is what tells the notice from others; empty: the event's id. Raises
        MalformedNoticeError where the deadline is later than LONGEST_LEAD allows.
        """
        notice = Notice(
            kind=kind,
            cause="" if self.name == kind else self.name,
            concerns=self.concerns,
            event_id=event_id or event.event_id,
            instance_id=instance_id,
            time=event.time,
            deadline=deadline,
            **more,
        )
        if notice.ends_at is None and deadline - event.time > LONGEST_LEAD:
            problem = f"should name an end within a day of it, but names {in_words(deadline)}"
            raise MalformedNoticeError("detail", problem)
        return notice
