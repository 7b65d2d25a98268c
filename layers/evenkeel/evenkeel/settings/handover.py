"""Settings of the reconciler."""

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, StrEnum, auto
from typing import Annotated, Final

from evenkeel.settings.shared import (
    LIFECYCLE_HOOK,
    WAKE_UP_QUEUE_URL,
    WINDOW,
    FunctionSettings,
    Mode,
)
from evenkeel.settings.variable import Variable, one_of, share, whole

HANDOVER_TIMEOUT: Final = timedelta(seconds=900)
"""The handover function is stopped after so long; its queue's visibility timeout is as long.

It is the longest that Lambda allows. An invocation works as long only while there is something to
do, so one invocation handles a whole storm.
"""

LONGEST_WORK: Final = timedelta(seconds=870)
"""How long one invocation works at most; the rest of its time is for requests under way then."""

PODS_EACH: Final = 7_500
"""What one reconciler, which is one core in Python, takes away within half of two minutes."""

EVICTIONS: Final = whole(
    "EVENKEEL_EVICTIONS_PER_SECOND",
    "How many forced evictions the API server is expected to carry out in a second, until it has"
    " taken more of late. The fewer, the earlier they begin.",
    60,
    lowest=10,
    highest=1_000,
)

SEATS: Final = whole(
    "EVENKEEL_SEATS",
    "How many seats there may be at a time: pods that keep room for the next pods of those that go"
    " before others run. 0: none.",
    20,
    lowest=0,
    highest=1_000,
)

REBALANCE_SHARE: Final = share(
    "EVENKEEL_REBALANCE_SHARE",
    "The share of the spot nodes that may be drained for recommendations at once.",
    0.1,
)

OUT_OF_SERVICE: Final = one_of(
    "EVENKEEL_OUT_OF_SERVICE",
    "Whether the node of an instance that is gone gets the out-of-service taint, so that its"
    " volumes come free at once.",
    "true",
    "false",
    yes="true",
)


class Notify(StrEnum):
    """In which mode somebody is told of interruptions."""

    NEVER = "never"
    ACTING = "acting"
    ALWAYS = "always"


NOTIFY: Final = Variable(
    "EVENKEEL_NOTIFY",
    "Whether interruptions are told of: never, while it acts, or in observe mode, too, where it can"
    " tell only that one begins.",
    "never, acting or always",
    lambda given: Notify(given.lower()),
    "acting",
)

LOG_STREAM: Final = Variable(
    "AWS_LAMBDA_LOG_STREAM_NAME",
    "The holder of the reconciler's Lease, which says where its log is; a random name without.",
    "what Lambda sets",
    lambda given: given or f"evenkeel-{uuid.uuid4()}",
    "",
)
"""It is unique per execution environment."""


class Role(Enum):
    """What an invocation takes of a divided storm: what there is, or of two kinds only one."""

    ANY = auto()
    FIRST = auto()
    SHARE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverSettings(FunctionSettings):
    """Settings of the reconciler.

    ``pods_each``: one reconciler more for each so many pods of doomed nodes. ``role``: what an
    invocation takes of a storm that is divided. ``holder`` is the
    identity in the Lease; no two processes may share it. ``stands_in``: works only while no
    deployed functions do, as a command does that has no AWS to ask.
    """

    window: Annotated[int, WINDOW] = WINDOW.usual
    evictions_per_second: Annotated[int, EVICTIONS] = EVICTIONS.usual
    seats: Annotated[int, SEATS] = SEATS.usual
    work: timedelta = LONGEST_WORK
    rebalance_share: Annotated[float, REBALANCE_SHARE] = REBALANCE_SHARE.usual
    do_out_of_service: Annotated[bool, OUT_OF_SERVICE] = OUT_OF_SERVICE.usual
    lifecycle_hook: Annotated[str, LIFECYCLE_HOOK] = LIFECYCLE_HOOK.usual
    notify: Annotated[Notify, NOTIFY] = NOTIFY.usual
    wake_up_queue_url: Annotated[str, WAKE_UP_QUEUE_URL] = ""
    pods_each: int = PODS_EACH
    role: Role = Role.ANY
    holder: Annotated[str, LOG_STREAM] = field(default_factory=lambda: LOG_STREAM.usual)
    stands_in: bool = False

    @property
    def does_notify(self) -> bool:
        """Whether interruptions are told of."""
        acts = self.mode is Mode.ACT
        return self.notify is Notify.ALWAYS or (acts and self.notify is Notify.ACTING)
