"""The functions' tokens, from the signing to RBAC: who is let in, and who is not."""

import base64
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import botocore.auth
import botocore.session
import pytest

from evenkeel.adapters.aws.eks_token import PREFIX, EksToken
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import connect
from evenkeel.errors import ForbiddenError, UnauthenticatedError
from evenkeel.model import names
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.request import Create, List, Selection
from evenkeel.ports import Reply
from tests.stack.deployed.conftest import CLUSTER_NAME
from tests.stack.deployed.ministack import REGION, Ministack
from tests.stack.deployed.verifier import Verifier

pytestmark = pytest.mark.stack


class Fixed:
    """A TokenSource with one token, valid or not."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def refused(self, token: str) -> None:
        """There is no other."""


@pytest.fixture(scope="module")
def credentials(ministack: Ministack, verifier: Verifier) -> botocore.session.Session:
    """Somebody whom the cluster knows as a member of evenkeel-interruption."""
    iam = ministack.client("iam")
    iam.create_user(UserName="somebody")
    key = iam.create_access_key(UserName="somebody")["AccessKey"]
    verifier.groups["somebody"] = "evenkeel-interruption"
    session = botocore.session.Session()
    session.set_credentials(key["AccessKeyId"], key["SecretAccessKey"])
    return session


def sign(session: botocore.session.Session, cluster_name: str = CLUSTER_NAME) -> str:
    return EksToken(cluster_name, REGION, SystemClock(), session).token()


def ask(endpoint: Mapping[str, str], token: str, request: Any = None) -> Reply:
    cluster = connect(
        endpoint["ClusterEndpoint"], endpoint["ClusterCertificateAuthority"], Fixed(token)
    )
    try:
        (reply,) = cluster.perform([request or List(Selection(Node))])
    finally:
        cluster.close()
    return reply


def forge(token: str) -> str:
    """The token with another signature."""
    encoded = token.removeprefix(PREFIX)
    url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    head, signature, rest = url.partition("X-Amz-Signature=")
    forged = f"{head}{signature}{'0' * 64}{rest[64:]}"
    return PREFIX + base64.urlsafe_b64encode(forged.encode()).rstrip(b"=").decode()


def test_who_signs_as_a_member_may_do_what_the_group_may_and_no_more(
    credentials: botocore.session.Session, endpoint: Mapping[str, str]
) -> None:
    token = sign(credentials)
    assert ask(endpoint, token).error is None
    made = ConfigMap(metadata=Metadata(name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE))
    assert isinstance(ask(endpoint, token, Create(made)).error, ForbiddenError)


def test_a_token_for_another_cluster_is_refused(
    credentials: botocore.session.Session, endpoint: Mapping[str, str], verifier: Verifier
) -> None:
    reply = ask(endpoint, sign(credentials, "another"))
    assert isinstance(reply.error, UnauthenticatedError)
    assert "SignatureDoesNotMatch" in verifier.refusals[-1]


def test_a_forged_token_is_refused(
    credentials: botocore.session.Session, endpoint: Mapping[str, str], verifier: Verifier
) -> None:
    reply = ask(endpoint, forge(sign(credentials)))
    assert isinstance(reply.error, UnauthenticatedError)
    assert "SignatureDoesNotMatch" in verifier.refusals[-1]


def test_a_token_that_is_too_old_is_refused(
    credentials: botocore.session.Session,
    endpoint: Mapping[str, str],
    verifier: Verifier,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signed_at = SystemClock().now() - timedelta(minutes=16)

    def then(*_: object, **__: object) -> datetime:
        return signed_at

    monkeypatch.setattr(botocore.auth, "get_current_datetime", then)
    reply = ask(endpoint, sign(credentials))
    assert isinstance(reply.error, UnauthenticatedError)
    assert "15 minutes" in verifier.refusals[-1]
