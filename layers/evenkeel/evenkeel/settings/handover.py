"""Settings of the reconciler."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Self

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import shared
from evenkeel.settings.shared import Mode
from evenkeel.settings.values import seconds, share, switch, whole

EVICTIONS: Final = "EVENKEEL_EVICTIONS_PER_SECOND"
WORK: Final = "EVENKEEL_WORK_SECONDS"
PAUSE: Final = "EVENKEEL_PAUSE_SECONDS"
REBALANCE_SHARE: Final = "EVENKEEL_REBALANCE_SHARE"
LOAD_BALANCER_LEAD: Final = "EVENKEEL_LOAD_BALANCER_LEAD_SECONDS"
OUT_OF_SERVICE: Final = "EVENKEEL_OUT_OF_SERVICE"
LOG_STREAM: Final = "AWS_LAMBDA_LOG_STREAM_NAME"

HANDOVER_TIMEOUT: Final = timedelta(seconds=900)
"""The handover function is stopped after so long; its queue's visibility timeout is as long.

It is the longest that Lambda allows. An invocation takes it only while there is something to do:
one sees a storm through.
"""

LONGEST_WORK: Final = timedelta(seconds=870)
"""How long one invocation works at most; the rest is for what is under way then."""


def _unique_holder() -> str:
    return f"evenkeel-{uuid.uuid4()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverSettings:
    """Settings of the reconciler.

    ``window`` is how many replacements may be pending. ``evictions_per_second`` is the rate that is
    reckoned with for forced evictions. ``work`` is
    how long one invocation works, ``pause`` how long its message then stays invisible.
    ``rebalance_share`` is the share of the spot nodes (0 to 1) that may be cordoned for
    rebalance recommendations at once. ``load_balancer_lead`` is how long before its deadline
    a node leaves the external load balancers at the latest. ``do_out_of_service`` allows the
    out-of-service taint on nodes whose instance is gone. ``capacity_labels`` tell which nodes
    are spot. ``lifecycle_hook`` is the name of the hook that is completed, empty for none.
    ``holder`` is the identity in the Lease; no two processes may share it. ``stands_in``: works
    only while no deployed functions do, as a command does that has no AWS to ask.
    """

    mode: Mode
    cluster_name: str
    window: int = 100
    evictions_per_second: int = 60
    work: timedelta = LONGEST_WORK
    pause: timedelta = timedelta()
    rebalance_share: float = 0.10
    rebalance_expiry: timedelta = timedelta(minutes=15)
    load_balancer_lead: timedelta = timedelta(seconds=60)
    do_out_of_service: bool = True
    capacity_labels: CapacityLabels = WELL_KNOWN
    lifecycle_hook: str = ""
    wake_up_queue_url: str = ""
    holder: str = field(default_factory=_unique_holder)
    stands_in: bool = False

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError.

        The holder is the log stream where Lambda names one: it is unique per execution
        environment, and a reader of the Lease knows where to look.
        """
        return cls(
            mode=shared.mode(environ),
            cluster_name=shared.cluster_name(environ),
            window=shared.window(environ),
            evictions_per_second=whole(environ, EVICTIONS, default=60, lowest=10, highest=1_000),
            work=seconds(environ, WORK, LONGEST_WORK, timedelta(seconds=1), LONGEST_WORK),
            pause=seconds(environ, PAUSE, timedelta(), timedelta(), timedelta(seconds=60)),
            rebalance_share=share(environ, REBALANCE_SHARE, default=0.10),
            rebalance_expiry=shared.rebalance_expiry(environ),
            load_balancer_lead=seconds(
                environ,
                LOAD_BALANCER_LEAD,
                timedelta(seconds=60),
                timedelta(),
                timedelta(seconds=120),
            ),
            do_out_of_service=switch(environ, OUT_OF_SERVICE, default=True),
            capacity_labels=shared.capacity_labels(environ),
            lifecycle_hook=shared.lifecycle_hook(environ),
            wake_up_queue_url=shared.queue_url(environ, shared.WAKE_UP_QUEUE_URL),
            holder=environ.get(LOG_STREAM, "").strip() or _unique_holder(),
        )
