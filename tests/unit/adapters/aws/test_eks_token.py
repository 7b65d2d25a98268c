"""A token is what EKS takes, and a new one comes before the old one runs out."""

import base64
import hashlib
import hmac
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, quote, urlsplit

import botocore.session
import pytest
from botocore.credentials import CredentialProvider, CredentialResolver, Credentials
from botocore.exceptions import CredentialRetrievalError

from evenkeel.adapters.aws.eks_token import EksToken, dns_suffix
from evenkeel.errors import UnauthenticatedError
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

MINUTE = timedelta(minutes=1)
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def session_with_credentials(*, temporary: bool = True) -> botocore.session.Session:
    session = botocore.session.Session()
    session.set_credentials("AKIDEXAMPLE", SECRET, "session-token" if temporary else None)
    return session


class Rotating(botocore.session.Session):
    """Has other credentials for every signature, so that signatures can be told apart."""

    signatures = 0

    def get_credentials(self) -> Credentials:
        self.signatures += 1
        return Credentials(f"AKID{self.signatures}", SECRET)


def source(
    clock: SimulatedClock | None = None,
    *,
    region: str = "eu-central-1",
    session: botocore.session.Session | None = None,
) -> EksToken:
    return EksToken(
        "prod", region, clock or SimulatedClock(NOW), session or session_with_credentials()
    )


def url_of(token: str) -> str:
    prefix, _, encoded = token.partition(".")
    assert prefix == "k8s-aws-v1"
    assert "=" not in encoded
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


def signature_of(url: str) -> str:
    """Signature version 4 of a presigned GET with the header x-k8s-aws-id, from its text.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    """
    parts = urlsplit(url)
    query = {key: value for key, (value,) in parse_qs(parts.query).items()}
    del query["X-Amz-Signature"]
    canonical_query = "&".join(
        f"{quote(key, safe='-_.~')}={quote(value, safe='-_.~')}"
        for key, value in sorted(query.items())
    )
    canonical = "\n".join(
        [
            "GET",
            "/",
            canonical_query,
            f"host:{parts.netloc}",
            "x-k8s-aws-id:prod",
            "",
            "host;x-k8s-aws-id",
            hashlib.sha256(b"").hexdigest(),
        ]
    )
    _, day, region, service, terminator = query["X-Amz-Credential"].split("/")
    to_sign = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            query["X-Amz-Date"],
            f"{day}/{region}/{service}/{terminator}",
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, service, terminator, to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


def test_a_token_is_a_presigned_question_that_sts_would_answer() -> None:
    url = url_of(source().token())
    parts = urlsplit(url)
    query = {key: value for key, (value,) in parse_qs(parts.query).items()}
    assert (parts.scheme, parts.netloc, parts.path) == (
        "https",
        "sts.eu-central-1.amazonaws.com",
        "/",
    )
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-Expires"] == "60"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert query["X-Amz-Security-Token"] == "session-token"
    assert query["X-Amz-Signature"] == signature_of(url)


def test_long_term_credentials_need_no_session_token() -> None:
    url = url_of(source(session=session_with_credentials(temporary=False)).token())
    assert "X-Amz-Security-Token" not in url
    assert f"X-Amz-Signature={signature_of(url)}" in url


@pytest.mark.parametrize(
    ("region", "suffix"),
    [
        ("eu-central-1", "amazonaws.com"),
        ("us-gov-west-1", "amazonaws.com"),
        ("cn-north-1", "amazonaws.com.cn"),
        ("us-iso-east-1", "c2s.ic.gov"),
        ("eusc-de-east-1", "amazonaws.eu"),
        ("eu-newland-9", "amazonaws.com"),
        ("cn-newland-9", "amazonaws.com.cn"),
        ("moon", "amazonaws.com"),
    ],
)
def test_it_is_signed_for_the_partitions_own_domain(region: str, suffix: str) -> None:
    assert dns_suffix(region) == suffix
    assert urlsplit(url_of(source(region=region).token())).netloc == f"sts.{region}.{suffix}"


def test_endpoints_that_others_are_told_to_use_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:4566")
    monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    monkeypatch.setenv("AWS_STS_REGIONAL_ENDPOINTS", "legacy")
    assert url_of(source().token()).startswith("https://sts.eu-central-1.amazonaws.com/?")


def test_it_is_kept_for_fourteen_minutes_of_the_wall_clock() -> None:
    clock = SimulatedClock(NOW)
    session = Rotating()
    tokens = source(clock, session=session)
    first = tokens.token()
    clock.advance(14 * MINUTE - timedelta(seconds=1))
    assert tokens.token() == first
    clock.advance(timedelta(seconds=1))
    second = tokens.token()
    assert second != first
    assert tokens.token() == second
    assert session.signatures == 2


def test_a_refused_token_is_renewed_once_however_many_threads_met_the_refusal() -> None:
    session = Rotating()
    tokens = source(session=session)
    first = tokens.token()

    def meet_a_refusal(_: int) -> str:
        tokens.refused(first)
        return tokens.token()

    with ThreadPoolExecutor(8) as threads:
        renewed = set(threads.map(meet_a_refusal, range(32)))

    assert session.signatures == 2
    assert len(renewed) == 1
    assert first not in renewed


def test_no_credentials_are_an_error_of_ours() -> None:
    session = botocore.session.Session()
    session.register_component("credential_provider", CredentialResolver([]))
    with pytest.raises(UnauthenticatedError, match="no AWS credentials"):
        source(session=session).token()


def test_credentials_that_cannot_be_had_are_an_error_of_ours() -> None:
    class Broken(CredentialProvider):
        METHOD = "broken"

        def load(self) -> None:
            raise CredentialRetrievalError(provider="broken", error_msg="no answer")

    session = botocore.session.Session()
    session.register_component("credential_provider", CredentialResolver([Broken()]))
    with pytest.raises(UnauthenticatedError, match="no answer"):
        source(session=session).token()


def test_the_secret_is_in_no_part_of_the_token() -> None:
    assert SECRET not in url_of(source().token())
