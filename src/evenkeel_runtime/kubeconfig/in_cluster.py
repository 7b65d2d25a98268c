"""The API server of the cluster that a pod runs in, asked as the pod's service account.

https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from evenkeel.adapters.kubernetes.endpoint import Endpoint, tls_context
from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel.ports import Clock
from evenkeel_runtime.kubeconfig.tokens import MARGIN, RenewedToken, Token

FOLDER: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where the kubelet puts what the pod's service account has."""

HOST: Final = "KUBERNETES_SERVICE_HOST"
PORT: Final = "KUBERNETES_SERVICE_PORT"

KEPT: Final = MARGIN + timedelta(minutes=1)
"""A minute after it was read the token's file is read again: the kubelet renews it in time."""


@dataclass(frozen=True, slots=True)
class Pod:
    """Where a pod finds what it needs: its environment, and the files of its service account."""

    environ: Mapping[str, str]
    folder: Path = FOLDER

    @property
    def is_here(self) -> bool:
        """Whether this process runs in a pod that may ask its API server."""
        is_told = self.environ.get(HOST) and self.environ.get(PORT)
        return bool(is_told) and (self.folder / "token").is_file()

    @property
    def server(self) -> str:
        """The API server's URL, of a pod that ``is_here``."""
        host = self.environ[HOST]
        return f"https://{f'[{host}]' if ':' in host else host}:{self.environ[PORT]}"

    @property
    def own_namespace(self) -> str:
        """The pod's own namespace. Raises SettingsError."""
        try:
            return (self.folder / "namespace").read_text().strip()
        except (OSError, ValueError) as error:
            raise SettingsError(f"this pod's service account: {error}") from error

    def endpoint(self, clock: Clock) -> Endpoint:
        """The API server, with the token that is in the file at any time. Raises SettingsError."""
        try:
            context = tls_context((self.folder / "ca.crt").read_text())
        except (OSError, ValueError) as error:
            raise SettingsError(f"this pod's certificate authority: {error}") from error
        tokens = RenewedToken(lambda: self._token(clock), clock)
        return Endpoint(self.server, tls=context, tokens=tokens)

    def _token(self, clock: Clock) -> Token:
        try:
            token = (self.folder / "token").read_text().strip()
        except (OSError, ValueError) as error:
            raise UnauthenticatedError(f"no new token: {error}") from error
        return Token(token, clock.now() + KEPT)


def this_pod() -> Pod:
    """Where this process would find it. The variables are Kubernetes' own."""
    return Pod(os.environ)  # noqa: TID251
