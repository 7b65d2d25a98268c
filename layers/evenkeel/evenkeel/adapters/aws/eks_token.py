"""Tokens for EKS: a presigned request to STS, by which the API server learns the caller's role.

Nothing is sent to STS from here. The token is ``k8s-aws-v1.`` and the base64url form of a
presigned GetCallerIdentity whose signature covers the header x-k8s-aws-id, the cluster's name;
EKS takes it for 15 minutes from its signing on.
https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster
"""

import base64
import re
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import botocore.session
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.loaders import create_loader

from evenkeel.errors import UnauthenticatedError
from evenkeel.ports import Clock

PREFIX: Final = "k8s-aws-v1."
CLUSTER_HEADER: Final = "x-k8s-aws-id"

RENEWED_AFTER: Final = timedelta(minutes=14)
"""A minute before it runs out. By the wall clock: a frozen Lambda environment ages too."""

EXPIRES: Final = 60
"""Seconds that the URL itself is said to be good for; EKS reckons with its own 15 minutes."""


@dataclass(eq=False)
class EksToken:
    """Hands out tokens for one cluster; several threads may ask at once.

    They are signed for STS's public regional name. Other clients of the process may use
    AWS_ENDPOINT_URL or a FIPS name; EKS asks neither. The session knows the credentials; without
    one it is that of the environment.
    """

    _cluster_name: str
    _region: str
    _clock: Clock
    _session: botocore.session.Session | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _token: str = field(default="", repr=False)
    _renew_at: datetime | None = None

    def token(self) -> str:
        """A token that is valid now. Raises UnauthenticatedError without credentials."""
        with self._lock:
            now = self._clock.now()
            if self._renew_at is None or now >= self._renew_at:
                self._token = self._sign()
                self._renew_at = now + RENEWED_AFTER
            return self._token

    def refused(self, token: str) -> None:
        """The API server did not take this token: the next one is new."""
        with self._lock:
            if token == self._token:
                self._renew_at = None

    def _sign(self) -> str:
        if self._session is None:
            self._session = botocore.session.get_session()
        host = f"sts.{self._region}.{dns_suffix(self._region)}"
        request = AWSRequest(
            method="GET",
            url=f"https://{host}/?Action=GetCallerIdentity&Version=2011-06-15",
            headers={CLUSTER_HEADER: self._cluster_name},
        )
        try:
            credentials = self._session.get_credentials()
            if credentials is None:
                raise UnauthenticatedError("there are no AWS credentials to sign a token with")
            signer = SigV4QueryAuth(
                credentials.get_frozen_credentials(), "sts", self._region, expires=EXPIRES
            )
            signer.add_auth(request)
        except BotoCoreError as error:
            raise UnauthenticatedError(f"no token could be signed: {error}") from error
        encoded = base64.urlsafe_b64encode(str(request.url).encode()).rstrip(b"=")
        return PREFIX + encoded.decode()


def dns_suffix(region: str) -> str:
    """The domain of a region's partition, such as ``amazonaws.com.cn`` for cn-north-1."""
    partitions = create_loader().load_data("partitions")["partitions"]
    for partition in partitions:
        if region in partition["regions"] or re.match(partition["regionRegex"], region):
            return str(partition["outputs"]["dnsSuffix"])
    return "amazonaws.com"
