"""Durations as Kubernetes writes them."""

import re
from datetime import timedelta

UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def parse_duration(text: str) -> timedelta:
    """What ``1m30s``, ``500ms`` or ``2h`` means; ValueError for anything else."""
    if not re.fullmatch(rf"(?:{PART.pattern})+", text):
        raise ValueError(f"{text!r} is no duration: write it like 1m30s or 500ms")
    return timedelta(
        seconds=sum(float(amount) * UNITS[unit] for amount, unit in PART.findall(text))
    )
