"""Settings of the webhook."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Final

from evenkeel.errors import SettingsError
from evenkeel.model.webhook_token import TOKENS
from evenkeel.settings.shared import DEFAULT_FLOORS, NAMESPACES, FunctionSettings
from evenkeel.settings.variable import Variable, text

LONGEST_COUNTING: Final = timedelta(seconds=2)
"""The API server waits 3 s for the webhook: 1 s remains for requests under way."""

WEBHOOK_REQUEST: Final = timedelta(seconds=0.8)
"""How long the webhook tries one request to the API server, before it leaves the pod as it is."""


def _tokens(given: str) -> tuple[str, ...]:
    if given and not re.fullmatch(TOKENS, given):
        raise ValueError(given)
    return tuple(filter(None, given.split(",")))


WEBHOOK_TOKEN: Final = Variable(
    "EVENKEEL_WEBHOOK_TOKEN",
    "The last part of the path that is served: the current secret, and perhaps the one before it."
    " Needed where no secret of Secrets Manager is named.",
    "a secret of 256 bits such as `openssl rand -hex 32` prints, or two, comma-separated",
    _tokens,
    "",
    secret=True,
)

WEBHOOK_SECRET: Final = text(
    "EVENKEEL_WEBHOOK_SECRET",
    "The secret in Secrets Manager whose current value, and the one before it, count as well.",
    "the ARN of a secret, or empty",
    "",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSettings(FunctionSettings):
    """Settings of the webhook. Raises SettingsError where it has no token at all.

    ``secret`` is where further tokens are. ``everywhere``: namespaces take part without the label.
    ``defaults_required``: default floors are required.
    """

    tokens: Annotated[tuple[str, ...], WEBHOOK_TOKEN] = field(repr=False)
    secret: Annotated[str, WEBHOOK_SECRET] = WEBHOOK_SECRET.usual
    everywhere: Annotated[bool, NAMESPACES] = NAMESPACES.usual
    defaults_required: Annotated[bool, DEFAULT_FLOORS] = DEFAULT_FLOORS.usual

    def __post_init__(self) -> None:
        """Refuse a webhook that everybody, or nobody, could ask."""
        if not self.tokens and not self.secret:
            raise SettingsError(f"{WEBHOOK_TOKEN} is not set: it should be {WEBHOOK_TOKEN.shape}")
