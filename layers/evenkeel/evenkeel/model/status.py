"""metav1.Status: how the API server, and a webhook through it, words a refusal."""

from typing import Final

from evenkeel.model.meta import ApiStruct

BUDGET_CAUSE: Final = "DisruptionBudget"
"""The cause in a 429 on eviction that tells a budget's refusal from throttling."""


class Cause(ApiStruct, frozen=True, kw_only=True):
    """One of a refusal's causes, as clients look for them."""

    reason: str = ""
    message: str = ""


class StatusDetails(ApiStruct, frozen=True, kw_only=True):
    """What else a client is told: when to ask again, and why it is refused."""

    retry_after_seconds: int = 0
    causes: tuple[Cause, ...] = ()


class Status(ApiStruct, frozen=True, kw_only=True):
    """A refusal."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: StatusDetails | None = None
