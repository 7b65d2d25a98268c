"""How AWS is asked: within bounds of time."""

from typing import Final

from botocore.config import Config

CONFIG: Final = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 3},
    user_agent_extra="evenkeel",
)
"""Three attempts of three seconds and their pauses fit into the shortest function's 20 seconds.

A notice lives for two minutes and is tried again within seconds by its queue, so waiting
longer for one answer gains nothing.
"""
