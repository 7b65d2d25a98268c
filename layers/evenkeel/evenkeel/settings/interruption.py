"""Settings of the function that marks nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import shared
from evenkeel.settings.shared import Mode
from evenkeel.settings.values import seconds

NOTICE_QUEUE_URL: Final = "EVENKEEL_NOTICE_QUEUE_URL"
REPLAY_SOURCE: Final = "EVENKEEL_REPLAY_SOURCE"
LONGEST_TERMINATION: Final = "EVENKEEL_LONGEST_TERMINATION_SECONDS"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionSettings:
    """Settings of the function that marks nodes.

    ``rebalance_expiry`` is how long a rebalance recommendation counts. ``replay_source`` is an
    event source that is read like ``aws.ec2``, for replays; empty allows none.
    ``lifecycle_hook`` is the name of the lifecycle hook that is heeded, empty for none, and
    ``longest_termination`` how long a termination may be made to wait for it.
    ``capacity_labels`` tell which nodes are spot. The queues' URLs are needed only where a real
    queue is connected.
    """

    mode: Mode
    cluster_name: str
    rebalance_expiry: timedelta = timedelta(minutes=15)
    replay_source: str = ""
    lifecycle_hook: str = ""
    longest_termination: timedelta = timedelta(hours=1)
    capacity_labels: CapacityLabels = WELL_KNOWN
    notice_queue_url: str = ""
    wake_up_queue_url: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            mode=shared.mode(environ),
            cluster_name=shared.cluster_name(environ),
            rebalance_expiry=shared.rebalance_expiry(environ),
            replay_source=_replay_source(environ),
            lifecycle_hook=shared.lifecycle_hook(environ),
            longest_termination=seconds(
                environ,
                LONGEST_TERMINATION,
                timedelta(hours=1),
                timedelta(minutes=1),
                timedelta(days=1),
            ),
            capacity_labels=shared.capacity_labels(environ),
            notice_queue_url=shared.queue_url(environ, NOTICE_QUEUE_URL),
            wake_up_queue_url=shared.queue_url(environ, shared.WAKE_UP_QUEUE_URL),
        )


def _replay_source(environ: Mapping[str, str]) -> str:
    value = environ.get(REPLAY_SOURCE, "").strip()
    if value.startswith("aws."):
        raise SettingsError(
            f"{REPLAY_SOURCE} is {value!r}: it should be a source of your own, such as"
            " evenkeel.replay; only AWS can send events of aws.*"
        )
    return value
