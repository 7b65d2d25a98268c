"""How AWS is asked: within bounds of time, and over connections that are still there."""

from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

import boto3
from botocore.config import Config

from evenkeel.adapters.clock import SystemClock

CONFIG: Final = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 2},
    user_agent_extra="evenkeel",
)
"""Two attempts of three seconds: the shortest function has 20 s, and asks EC2, sends a wake-up and
postpones its messages, though neither service may answer.

A notice lives for two minutes and is tried again within seconds by its queue, so waiting
longer for one answer gains nothing.
"""

IDLE: Final = timedelta(seconds=45)
"""So long connections are kept that nobody uses. By the wall clock: a frozen function ages too."""


class Client:
    """A client of one service, which is made for the first call. Any thread may ask for it.

    Connections that were not used for ``IDLE`` are replaced. While a Lambda function is frozen AWS
    closes its side, and the function does not hear of it: a call over such a connection waits for
    its timeout, and where there is one attempt it fails.
    """

    def __init__(
        self, service: str, region: str, config: Config = CONFIG, given: Any = None
    ) -> None:
        """``given``: a client that was made elsewhere."""
        self._service = service
        self._region = region
        self._config = config
        self._made = given
        self._clock = SystemClock()
        self._used: datetime | None = None
        self._lock = Lock()

    def __call__(self) -> Any:
        """The client, to be used at once. Raises BotoCoreError where none can be made."""
        with self._lock:
            now, used = self._clock.now(), self._used
            self._used = now
            if self._made is None:
                session = boto3.Session(region_name=self._region)  # boto3's own is for one thread
                self._made = session.client(self._service, config=self._config)  # type: ignore[call-overload]  # any service
            elif used is not None and now - used > IDLE:
                self._made.close()
            return self._made
