"""What becomes of a request that passes through a proxy."""

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Final


class Verdict(StrEnum):
    """What a proxy does with a request, and how it is counted."""

    THROUGH = "passed on"
    TWICE = "passed on twice"
    THROTTLED = "429"
    CONFLICT = "409"
    INTERNAL = "500"
    UNAVAILABLE = "503"
    RESET_BEFORE = "reset before it was carried out"
    RESET_AFTER = "reset after it was carried out"


READS: Final = (
    Verdict.THROTTLED,
    Verdict.INTERNAL,
    Verdict.UNAVAILABLE,
    Verdict.RESET_BEFORE,
    Verdict.RESET_AFTER,
)
WRITES: Final = (*READS, Verdict.CONFLICT)
"""Kubernetes answers 409 to writes alone."""

_REASONS: Final = {
    Verdict.THROTTLED: "TooManyRequests",
    Verdict.CONFLICT: "Conflict",
    Verdict.INTERNAL: "InternalError",
    Verdict.UNAVAILABLE: "ServiceUnavailable",
}


@dataclass(slots=True)
class Policy:
    """Decides on one request after the other.

    ``share`` of them go wrong, each in one of the ways that it could, all ways alike often.
    ``twice``: requests whose target ends so are carried out twice, as by a sender that did not
    hear the first answer.
    """

    share: float = 0.0
    twice: str = ""
    random: Random = field(default_factory=lambda: Random(1))  # noqa: S311 - no secret
    counts: Counter[Verdict] = field(default_factory=Counter)

    def decide(self, method: str, target: str = "") -> Verdict:
        """The next request's verdict. ``target``: AWS's name of the action, if it has one."""
        verdict = Verdict.THROUGH
        if self.twice and target.endswith(self.twice):
            verdict = Verdict.TWICE
        elif self.random.random() < self.share:
            verdict = self.random.choice(READS if method == "GET" else WRITES)
        self.counts[verdict] += 1
        return verdict


def refusal(verdict: Verdict) -> bytes | None:
    """The whole HTTP answer of an API server that refuses; None if the verdict is another."""
    reason = _REASONS.get(verdict)
    if reason is None:
        return None
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "a fault of the bench",
        "reason": reason,
        "code": int(verdict.value),
    }
    body = json.dumps(status).encode()
    later = "Retry-After: 1\r\n" if verdict is Verdict.THROTTLED else ""
    head = (
        f"HTTP/1.1 {verdict.value} {reason}\r\nContent-Type: application/json\r\n"
        f"{later}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
