"""How an invocation ends, and when the next one has to begin."""

from datetime import timedelta

import msgspec

from evenkeel.errors import ClusterError

REST_IN_CALM = timedelta(seconds=5)
"""How long to rest where no node dies: while paused, and while only hints are followed."""


class Outcome(msgspec.Struct, frozen=True):
    """How an invocation ended. ``again_in`` None: nothing is left that cannot wait a minute.

    ``awaited``: the schedule need not send a wake-up. One comes anyway, or its own next turn
    is soon enough.
    ``error``: why nothing could be done: the invocation could not read what it needs.
    """

    reason: str
    again_in: timedelta | None = None
    awaited: bool = False
    error: ClusterError | None = None
