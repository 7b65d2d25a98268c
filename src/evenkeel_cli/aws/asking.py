"""AWS, asked within bounds: which session, and answers as values."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from evenkeel.adapters.aws.clients import CONFIG
from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import converted
from evenkeel_cli.errors import UnmetError
from evenkeel_runtime import aws

REFUSED: Final = ("AccessDenied", "UnauthorizedOperation", "NotAuthorized", "ExpiredToken")
"""What AWS's codes for a refusal begin with."""

MOST_PAGES: Final = 50
SLOW: Final = ("cloudformation", "s3")
"""Services of which one request may take long: a layer is uploaded, a template is translated."""
PATIENT: Final = CONFIG.merge(Config(connect_timeout=5, read_timeout=60))

type MakeClient = Callable[[str], Any]
"""A client of a service by its name, as boto3 has it."""


class AwsError(UnmetError):
    """AWS refused a question or did not answer it. ``aws_code`` is AWS's word, or empty."""

    def __init__(self, message: str, aws_code: str = "") -> None:
        """Keep the code."""
        super().__init__(message)
        self.aws_code = aws_code

    @property
    def is_refusal(self) -> bool:
        """Whether a permission of who asks is missing."""
        return self.aws_code.startswith(REFUSED)


class Page(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A page of an answer, and the token of the next one; empty where there is none."""

    next_token: str = ""


class Nothing(msgspec.Struct, frozen=True):
    """An answer in which nothing is read."""


class Aws:
    """AWS in one region, as whoever has the credentials. Its methods raise AwsError."""

    def __init__(self, region: str, make_client: MakeClient, profile: str = "") -> None:
        """Clients are made when they are needed. ``profile`` is the one that was named."""
        self.region = region
        self.profile = profile
        self._make_client = make_client
        self._clients: dict[str, Any] = {}

    def ask[T](self, service: str, method: str, shape: type[T], **parameters: Any) -> T:
        """Call a method of a client; what it answers, as this shape.

        ``method`` is named as in boto3. Fields that the shape does not name are dropped.
        """
        try:
            answer = getattr(self._client(service), method)(**parameters)
        except ClientError as error:
            raise AwsError(str(error), error.response["Error"]["Code"]) from error
        except BotoCoreError as error:
            raise AwsError(f"{service} {method}: {error}") from error
        try:
            return converted(answer, shape)
        except UnreadableError as error:
            raise AwsError(f"{service} {method}: not the answer of AWS: {error}") from error

    def pages[P: Page](
        self, service: str, method: str, shape: type[P], **parameters: Any
    ) -> Iterator[P]:
        """The pages of an answer, each asked for when it is wanted; ``MOST_PAGES`` at most."""
        token: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = self.ask(service, method, shape, **parameters, **token)
            yield page
            if not page.next_token:
                return
            token = {"NextToken": page.next_token}

    def endpoint(self, service: str) -> str:
        """The URL at which a service is asked, as botocore finds it for the region."""
        return str(self._client(service).meta.endpoint_url)

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self._make_client(service)
        return self._clients[service]


def of_environment(region: str = "", profile: str = "") -> Aws | str:
    """AWS as the environment says; else why it cannot be asked. Nothing is sent to AWS yet.

    A region and a profile that are named go before the environment's.
    """
    try:
        session: Any = aws.session(region, profile)  # services have types of their own
        if session.get_credentials() is None:
            return "there are no AWS credentials"
    except BotoCoreError as error:
        return f"there are no AWS credentials that can be used: {error}"
    if session.region_name is None:
        return "no AWS region is named: set AWS_REGION"

    def client(service: str) -> Any:
        return session.client(service, config=PATIENT if service in SLOW else CONFIG)

    return Aws(session.region_name, client, profile)
