"""The webhook's tokens, kept by Secrets Manager.

https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from evenkeel.adapters.aws.clients import CONFIG, Client
from evenkeel.model.webhook_token import TOKEN
from evenkeel.ports import Clock, Recorder

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

STAGES: Final = ("AWSCURRENT", "AWSPREVIOUS")
"""While a token is rotated the one before it counts, too."""

READ_EVERY: Final = timedelta(minutes=1)
TRY_AGAIN_AFTER: Final = timedelta(seconds=5)

QUICKLY: Final = CONFIG.merge(
    Config(
        connect_timeout=0.5, read_timeout=0.8, retries={"mode": "standard", "total_max_attempts": 1}
    )
)
"""A review waits for this answer, and the API server waits 3 s for the review."""


class SecretTokens:
    """The tokens of a secret, read at most once a minute. Any thread may ask.

    While Secrets Manager does not answer, those that were read last count. Needs the permission
    secretsmanager:GetSecretValue.
    """

    def __init__(
        self,
        secret_id: str,
        region: str,
        clock: Clock,
        recorder: Recorder,
        *,
        besides: Sequence[str] = (),
        client: "SecretsManagerClient | None" = None,
    ) -> None:
        """``besides`` are tokens that always count. ``client`` None: one is made when needed."""
        self._secret_id = secret_id
        self._clock = clock
        self._recorder = recorder
        self._besides = tuple(besides)
        self._connected = Client("secretsmanager", region, QUICKLY, client)
        self._lock = Lock()
        self._known: tuple[str, ...] = ()
        self._read_at: datetime | None = None

    def __call__(self) -> Sequence[str]:
        """The tokens that count now; none at all where nothing was read yet."""
        with self._lock:
            now = self._clock.now()
            if self._read_at is None or now >= self._read_at:
                self._refresh(now)
            return (*self._known, *self._besides)

    def _refresh(self, now: datetime) -> None:
        """Read both stages. The log gets an error if that fails, and never a value."""
        try:
            found = [token for stage in STAGES if (token := self._read(stage)) is not None]
        except (BotoCoreError, ClientError) as error:
            self._read_at = now + TRY_AGAIN_AFTER
            self._recorder.noted(
                f"the webhook's token cannot be read from Secrets Manager: {error}",
                error=type(error).__name__,
            )
            return
        self._read_at = now + READ_EVERY
        self._known = tuple(token for token in found if re.fullmatch(TOKEN, token))
        if len(self._known) < len(found):
            self._recorder.noted(
                "a version of the webhook's secret is too short or malformed, and does not count:"
                " put a value there such as `openssl rand -hex 32` prints"
            )

    def _read(self, stage: str) -> str | None:
        """The value of a stage; None where the secret has no such version."""
        secrets: SecretsManagerClient = self._connected()
        try:
            answer = secrets.get_secret_value(SecretId=self._secret_id, VersionStage=stage)
        except secrets.exceptions.ResourceNotFoundException:
            if stage == STAGES[0]:
                raise
            return None
        return answer.get("SecretString", "")
