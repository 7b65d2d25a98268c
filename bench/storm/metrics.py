"""What the API server counts."""

import re
from typing import Final

from tests.kit.control_plane import ControlPlane

_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')


def total(control_plane: ControlPlane, metric: str, **labels: str) -> int:
    """The sum of a counter over all of its series with these labels."""
    found = 0.0
    for line in control_plane.text("metrics").splitlines():
        if line.startswith((f"{metric}{{", f"{metric} ")):
            named, _, value = line.rpartition(" ")
            if labels.items() <= dict(_LABEL.findall(named)).items():
                found += float(value)
    return round(found)


def refusals(control_plane: ControlPlane) -> int:
    """How many evictions were answered with 429 so far."""
    return total(control_plane, "apiserver_request_total", subresource="eviction", code="429")


def unasked(control_plane: ControlPlane) -> int:
    """How many requests passed so far because a webhook did not answer in time."""
    return total(control_plane, "apiserver_admission_webhook_fail_open_count")
