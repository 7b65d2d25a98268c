"""The price file, and what it is about."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

PATH: Final = Path(__file__).resolve().parents[1] / "prices.json"
MEMORY_MB: Final = 1769
"""template.yaml's default for MemorySize."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars each, and ``read``: when somebody looked. What is kept is by the month."""

    read: str
    region: str
    how: str
    sources: Sequence[str]
    lambda_gb_second: Mapping[str, float]
    lambda_request: float
    sqs_request: float
    eventbridge_service_event: float
    eventbridge_custom_event: float
    eventbridge_schedule: float
    logs_gb: float
    metric: float
    alarm: float
    dashboard: float
    secret: float
    secret_call: float
    http_api_request: float
    instance: str
    instance_cpus: float


def read() -> Prices:
    """Read the file."""
    return msgspec.json.decode(PATH.read_bytes(), type=Prices)
