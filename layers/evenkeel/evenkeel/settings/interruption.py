"""Settings of the function that marks nodes."""

from dataclasses import dataclass
from typing import Annotated, Final

from evenkeel.model.notification import SOURCE
from evenkeel.settings.shared import (
    LIFECYCLE_HOOK,
    WAKE_UP_QUEUE_URL,
    FunctionSettings,
    queue_url,
)
from evenkeel.settings.variable import text

NOTICE_QUEUE_URL: Final = queue_url("EVENKEEL_NOTICE_QUEUE_URL", "Where EventBridge puts notices.")

REPLAY_SOURCE: Final = text(
    "EVENKEEL_REPLAY_SOURCE",
    "An event source that is read like aws.ec2, for replays.",
    "a source of your own, such as evenkeel.replay, or empty; only AWS can send events of aws.*",
    "",
    such=lambda given: not given.startswith("aws.") and given != SOURCE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionSettings(FunctionSettings):
    """Settings of the function that marks nodes.

    The queues' URLs are needed only where a real queue is connected.
    """

    replay_source: Annotated[str, REPLAY_SOURCE] = REPLAY_SOURCE.usual
    lifecycle_hook: Annotated[str, LIFECYCLE_HOOK] = LIFECYCLE_HOOK.usual
    notice_queue_url: Annotated[str, NOTICE_QUEUE_URL] = ""
    wake_up_queue_url: Annotated[str, WAKE_UP_QUEUE_URL] = ""
