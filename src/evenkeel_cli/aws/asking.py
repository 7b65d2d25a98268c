"""AWS, asked within bounds: which session, and answers as values."""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from botocore.exceptions import BotoCoreError, ClientError

from evenkeel.adapters.aws.clients import CONFIG
from evenkeel_runtime import aws

REFUSED: Final = ("AccessDenied", "UnauthorizedOperation", "NotAuthorized", "ExpiredToken")
"""What AWS's codes for a refusal begin with."""

type MakeClient = Callable[[str], Any]
"""A client of a service by its name, as boto3 has it."""


class AwsError(Exception):
    """AWS refused a question or did not answer it. ``code`` is AWS's word, or empty."""

    def __init__(self, message: str, code: str = "") -> None:
        """Keep the code."""
        super().__init__(message)
        self.code = code

    @property
    def is_refusal(self) -> bool:
        """Whether a permission of who asks is missing."""
        return self.code.startswith(REFUSED)


class Aws:
    """AWS in one region, as whoever has the credentials. Its methods raise AwsError."""

    def __init__(self, region: str, make_client: MakeClient) -> None:
        """Clients are made when they are needed."""
        self.region = region
        self._make_client = make_client
        self._clients: dict[str, Any] = {}

    def ask[T](self, service: str, method: str, shape: type[T], **parameters: Any) -> T:
        """Call a method of a client; what it answers, as this shape.

        ``method`` is named as in boto3. Fields that the shape does not name are dropped.
        """
        try:
            if service not in self._clients:
                self._clients[service] = self._make_client(service)
            answer = getattr(self._clients[service], method)(**parameters)
        except ClientError as error:
            raise AwsError(str(error), error.response["Error"]["Code"]) from error
        except BotoCoreError as error:
            raise AwsError(f"{service} {method}: {error}") from error
        try:
            return msgspec.convert(answer, shape)
        except msgspec.ValidationError as error:
            raise AwsError(f"{service} {method}: not the answer of AWS: {error}") from error


def of_environment() -> Aws | str:
    """AWS as the environment says; else why it cannot be asked. Nothing is sent to AWS yet."""
    try:
        session: Any = aws.session()  # services have types of their own
        if session.get_credentials() is None:
            return "there are no AWS credentials"
    except BotoCoreError as error:
        return f"there are no AWS credentials that can be used: {error}"
    if session.region_name is None:
        return "no AWS region is named: set AWS_REGION"
    return Aws(session.region_name, lambda service: session.client(service, config=CONFIG))
