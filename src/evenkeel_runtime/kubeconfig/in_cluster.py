"""The API server of the cluster that a pod runs in, asked as the pod's service account.

https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_HOST_ENV_NAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)

from evenkeel.adapters.kubernetes.endpoint import Endpoint, tls_context
from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel.ports import Clock
from evenkeel_runtime.kubeconfig.tokens import MARGIN, RenewedToken, Token

KEPT: Final = MARGIN + timedelta(minutes=1)
"""A minute after it was read the token's file is read again: the kubelet renews it in time."""

_FAULTS: Final = (ConfigException, OSError, ValueError)


_NAMESPACE: Final = Path(SERVICE_TOKEN_FILENAME).with_name("namespace")


@dataclass(frozen=True, slots=True)
class Pod:
    """Where a pod finds what it needs: its environment, and the files of its service account."""

    environ: Mapping[str, str]
    token: Path = Path(SERVICE_TOKEN_FILENAME)
    authority: Path = Path(SERVICE_CERT_FILENAME)
    namespace: Path = _NAMESPACE

    @property
    def is_here(self) -> bool:
        """Whether this process runs in a pod that may ask its API server."""
        return bool(self.environ.get(SERVICE_HOST_ENV_NAME)) and self.token.is_file()

    @property
    def server(self) -> str:
        """The API server's URL. Raises SettingsError."""
        return self._load().host

    @property
    def own_namespace(self) -> str:
        """The pod's own namespace. Raises SettingsError."""
        try:
            return self.namespace.read_text().strip()
        except _FAULTS as error:
            raise SettingsError(f"this pod's service account: {error}") from error

    def endpoint(self, clock: Clock) -> Endpoint:
        """The API server, with the token that is in the file at any time. Raises SettingsError."""
        found = self._load()
        try:
            context = tls_context(self.authority.read_text())
        except _FAULTS as error:
            raise SettingsError(f"this pod's certificate authority: {error}") from error
        tokens = RenewedToken(lambda: self._token(clock), clock)
        return Endpoint(found.host, tls=context, tokens=tokens)

    def _load(self) -> Configuration:
        """What the library makes of it. Raises SettingsError."""
        found = Configuration()
        try:
            InClusterConfigLoader(  # type: ignore[no-untyped-call]  # the library's
                token_filename=str(self.token),
                cert_filename=str(self.authority),
                try_refresh_token=False,
                environ=self.environ,
            ).load_and_set(found)
        except _FAULTS as error:
            raise SettingsError(f"this pod's service account: {error}") from error
        return found

    def _token(self, clock: Clock) -> Token:
        try:
            header = self._load().api_key["BearerToken"]
        except SettingsError as error:
            raise UnauthenticatedError(f"no new token: {error}") from error
        return Token(header.removeprefix("bearer ").strip(), clock.now() + KEPT)


def this_pod() -> Pod:
    """Where this process would find it. The variables are Kubernetes' own."""
    return Pod(os.environ)  # noqa: TID251
