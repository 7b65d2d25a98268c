"""What is told of an interruption: one JSON document when it begins, and one when it is over.

Detail types and fields are promised to those who match and read them:
docs/reference/notification.schema.json.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

import msgspec

from evenkeel.model.interruption import Dip

SOURCE: Final = "evenkeel"
"""The source of events on EventBridge."""

VERSION: Final = 1

type Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Phase(StrEnum):
    """Which of both it is."""

    BEGAN = "began"
    OVER = "over"

    @property
    def detail_type(self) -> str:
        """The event's detail type on EventBridge."""
        return f"Evenkeel Interruption {self.value.capitalize()}"


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """That an interruption began, or is over. Times are RFC 3339, in UTC.

    - ``v``: the version of this format; a later one may have more fields.
    - ``text``: all of it in a sentence, for people.
    - ``id``: the interruption's, the same in both documents, and each time that one is sent again.
    - ``cluster``: its name. ``mode``: ``act``, or ``observe``, in which nothing is done.
    - ``phase``: ``began`` or ``over``. ``at``: when that was found.
    - ``began_at``, ``ended_at``: pods had to move from then to then; ``ended_at`` is null if it
      began only now.
    - ``deadline``: when the first node ends; null if all notices are hints.
    - ``nodes``: how many have a notice and pods that had to move. ``node_names``: ten at most.
    - ``pods``: how many have to move when it begins; when it is over, how many went.
    - ``late``: how many of these were lost with their node, or went before their replacement was
      available.
    - ``below``: how many workloads it left fewer pods than wanted, ``at_zero``: how many of these
      none. ``workloads``: the worst of them, ten at most.
    """

    v: Literal[1]
    text: str
    id: str
    cluster: str
    mode: str
    phase: Phase
    at: Moment
    began_at: Moment
    ended_at: Moment | None
    deadline: Moment | None
    nodes: int
    node_names: Sequence[str]
    pods: int
    late: int
    below: int
    at_zero: int
    workloads: Sequence[Dip]
