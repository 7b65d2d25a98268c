"""Settings of the webhook."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Self

from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.webhook_token import TOKENS
from evenkeel.settings import shared
from evenkeel.settings.shared import Mode
from evenkeel.settings.values import seconds, text

WEBHOOK_TOKEN: Final = "EVENKEEL_WEBHOOK_TOKEN"  # noqa: S105 - where it is, not what it is
WEBHOOK_SECRET: Final = "EVENKEEL_WEBHOOK_SECRET"  # noqa: S105 - the same
CLAIM_EXPIRY: Final = "EVENKEEL_CLAIM_EXPIRY_SECONDS"
COUNTING: Final = "EVENKEEL_COUNTING_SECONDS"

LONGEST_COUNTING: Final = timedelta(seconds=2)
"""The API server waits 3 s for its webhook: 1 s stays for what is under way."""

WEBHOOK_REQUEST: Final = timedelta(seconds=0.8)
"""How long the webhook tries one request to the API server; its pods are better left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSettings:
    """Settings of the webhook.

    ``tokens`` are the last parts of the paths that are served: the current one, and perhaps the
    one before it; those of the secret of this ARN in Secrets Manager count besides, so that there
    may be none here. ``everywhere``: namespaces take part without the label
    ``evenkeel.dev/managed=true``, too. ``capacity_labels`` are the node labels that pods ask for.
    A claim without a pod expires after ``claim_expiry``; ``counting`` is how long one pod may wait
    to be counted, within the API server's 3 s.
    """

    mode: Mode
    cluster_name: str
    tokens: tuple[str, ...] = field(repr=False)
    secret: str = ""
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN
    claim_expiry: timedelta = timedelta(seconds=1.5)
    counting: timedelta = timedelta(seconds=2)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            mode=shared.mode(environ),
            cluster_name=shared.cluster_name(environ),
            tokens=_tokens(environ),
            secret=environ.get(WEBHOOK_SECRET, "").strip(),
            everywhere=shared.everywhere(environ),
            capacity_labels=shared.capacity_labels(environ),
            claim_expiry=seconds(
                environ,
                CLAIM_EXPIRY,
                timedelta(seconds=1.5),
                timedelta(seconds=0.1),
                timedelta(seconds=60),
            ),
            counting=seconds(
                environ,
                COUNTING,
                LONGEST_COUNTING,
                timedelta(seconds=0.1),
                LONGEST_COUNTING,
            ),
        )


def _tokens(environ: Mapping[str, str]) -> tuple[str, ...]:
    """One token or two. What is wrong with them is told, they themselves never are."""
    what = "a secret of 256 bits such as `openssl rand -hex 32` prints, or two, comma-separated"
    if environ.get(WEBHOOK_SECRET, "").strip() and not environ.get(WEBHOOK_TOKEN, "").strip():
        return ()
    told = text(environ, WEBHOOK_TOKEN, what)
    if not re.fullmatch(TOKENS, told):
        raise SettingsError(f"{WEBHOOK_TOKEN} is too short or malformed: it should be {what}")
    return tuple(told.split(","))
