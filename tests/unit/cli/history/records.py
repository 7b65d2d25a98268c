"""Records of a made-up interruption."""

from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel_cli.history.cutting import Record

BEGIN = datetime(2026, 1, 5, 3, 0, tzinfo=UTC)
WEB = Reference("Deployment", "web", "shop", "web-uid")


def at(seconds: float) -> datetime:
    """So many seconds after the beginning."""
    return BEGIN + timedelta(seconds=seconds)


def decided(
    seconds: float, verb: str, reason: str, subject: Reference, **more: Any
) -> DecisionRecord:
    """A decision about an object."""
    fields: dict[str, Any] = {"mode": "act", "message": f"because of {reason}", **more}
    return DecisionRecord(
        v=1,
        time=at(seconds),
        cluster="prod",
        verb=verb,
        reason=reason,
        subject=subject,
        **fields,
    )


def marked(seconds: float, node: str = "a", **more: Any) -> DecisionRecord:
    """A node gets a notice, of two minutes unless ``until`` says otherwise."""
    until = more.pop("until", at(seconds + 120))
    reason = more.pop("reason", "SpotInterruption")
    return decided(seconds, "mark", reason, Reference("Node", node), node=node, until=until, **more)


def of_pod(seconds: float, verb: str, reason: str, name: str = "web-1", **more: Any) -> Record:
    """A decision about a pod of the Deployment web on node a."""
    fields = {"workload": WEB, "node": "a", **more}
    return decided(seconds, verb, reason, Reference("Pod", name, "shop", f"{name}-uid"), **fields)


def counted(
    seconds: float, available: int | None, wanted: int = 3, workload: Reference = WEB
) -> Record:
    """A count of a workload's pods."""
    return CountRecord(
        v=1,
        time=at(seconds),
        cluster="prod",
        workload=workload,
        available=available,
        wanted=wanted,
    )
