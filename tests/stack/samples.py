"""Events that the rules let through, and such as they keep away."""

import json
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).resolve().parents[2] / "events"


REPLAYS = "evenkeel.replay"


SAMPLES = {path.stem: json.loads(path.read_text()) for path in sorted(EVENTS.glob("*.json"))}


KEPT_AWAY = {"state-change-running", "state-change-stopped", "state-change-terminated"}
"""Samples that the rules keep away: of what ends no instance, and of an end that had begun."""


NEAR_MISSES: dict[str, dict[str, Any]] = {
    "another service": {"source": "aws.autoscaling"},
    "another kind": {"detail-type": "EC2 Instance Launch Successful"},
    "an instance that starts": {
        "detail-type": "EC2 Instance State-change Notification",
        "detail": {"instance-id": "i-1234567890abcdef0", "state": "pending"},
    },
    "a state change without a state": {
        "detail-type": "EC2 Instance State-change Notification",
        "detail": {"instance-id": "i-1234567890abcdef0"},
    },
    "a replay's source": {"source": REPLAYS},
    "another stack's probe": {
        "source": "evenkeel.probe/evenkeel-other",
        "detail-type": "Evenkeel Probe",
        "detail": {},
    },
}
