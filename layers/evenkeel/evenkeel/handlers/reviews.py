"""HTTP requests with an AdmissionReview in, the answered reviews out.

The requests have the shape of API Gateway's HTTP API (payload 2.0), from wherever they come. The
path is the only secret that EKS's API server can present: POST /v1/{token} asks about a new pod,
POST /v1/{token}/evictions about an eviction.

| answered | when |
|---|---|
| 200 | a review, whatever it is about; if something failed, the request passes as it is |
| 400 | no JSON, no AdmissionReview of admission.k8s.io/v1, or one without a request |
| 401 | another token |
| 404, 405 | another path, another method |
| 413 | more than 3 MB |
| 415 | not application/json |
"""

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from typing import Any, Final

import msgspec

from evenkeel.model.admission import (
    API_VERSION,
    KIND,
    AdmissionRequest,
    AdmissionReview,
    AnsweredReview,
)
from evenkeel.model.metrics import Metric
from evenkeel.ports import Recorder

PREFIX: Final = "/v1/"
LARGEST: Final = 3 * 1024 * 1024
"""Bytes of a body. An object has 1.5 MB at most in etcd, and a review holds little else."""

_REVIEW = msgspec.json.Decoder(AdmissionReview)


type Reviewer = Callable[[AdmissionRequest], AnsweredReview]
"""Answers the request of a review; raises nothing."""


type Tokens = Callable[[], Sequence[str]]
"""The tokens that count now; raises nothing."""


class RefusedError(Exception):
    """A request that is no review of ours; ``status`` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        """Keep what to answer. The message repeats nothing of the request."""
        super().__init__(message)
        self.status = status


def authenticate(path: str, tokens: Sequence[str]) -> str:
    """What a path leads to, behind one of these tokens: nothing, or a slash and a name.

    Comparing takes a time that does not tell how much of a token is right. Raises RefusedError.
    """
    if not path.startswith(PREFIX):
        raise RefusedError(404, "there is nothing here")
    token, slash, name = path.removeprefix(PREFIX).partition("/")
    given = token.encode("utf-8", "surrogatepass")
    if not any([compare_digest(given, token.encode()) for token in tokens]):  # noqa: C419 - all
        raise RefusedError(401, "the token is not known here")
    return slash + name


class Reviews:
    """Answers requests; raises nothing. Any number of threads may call it at once."""

    def __init__(
        self,
        reviewers: Mapping[str, Reviewer],
        tokens: Tokens,
        recorder: Recorder,
    ) -> None:
        """``reviewers`` by the path behind the token: nothing, or a slash and a name."""
        self._reviewers = reviewers
        self._tokens = tokens
        self._recorder = recorder

    def __call__(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        """Answer one request of an HTTP API."""
        try:
            reviewer, request = self._read(event)
            answered = msgspec.json.encode(reviewer(request))
            answer = _answer(200, answered, "application/json")
        except RefusedError as error:
            self._recorder.counted(Metric.REVIEWS_REFUSED)
            self._recorder.noted(f"refused a request: {error}", status=error.status)
            answer = _answer(error.status, f"{error}\n".encode(), "text/plain; charset=utf-8")
        finally:
            self._recorder.flush()
        return answer

    def _read(self, event: Mapping[str, Any]) -> tuple[Reviewer, AdmissionRequest]:
        """Who answers a review, and its request. Raises RefusedError."""
        try:
            method = event["requestContext"]["http"]["method"]
            where = authenticate(str(event["rawPath"]), self._tokens())
        except (KeyError, TypeError):
            raise RefusedError(400, "this is no request of an HTTP API") from None
        if where not in self._reviewers:
            raise RefusedError(404, "there is nothing here")
        if method != "POST":
            raise RefusedError(405, "reviews are sent by POST")
        body = _body(event)
        headers = event.get("headers") or {}
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "a review is application/json")
        return self._reviewers[where], _request_in(body)


def _body(event: Mapping[str, Any]) -> bytes:
    text = event.get("body") or ""
    if not isinstance(text, str):
        raise RefusedError(400, "this is no request of an HTTP API")
    encoded = bool(event.get("isBase64Encoded"))
    if len(text) > (LARGEST * 4 // 3 + 4 if encoded else LARGEST):
        raise RefusedError(413, "a review has 3 MB at most")
    try:
        body = b64decode(text, validate=True) if encoded else text.encode()
    except (binascii.Error, ValueError):
        raise RefusedError(400, "the body is not base64") from None
    if len(body) > LARGEST:
        raise RefusedError(413, "a review has 3 MB at most")
    return body


def _request_in(body: bytes) -> AdmissionRequest:
    try:
        review = _REVIEW.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise RefusedError(400, "the body is no AdmissionReview") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise RefusedError(400, f"only {KIND} of {API_VERSION} is understood")
    if review.request is None or not review.request.uid:
        raise RefusedError(400, "the review holds no request")
    return review.request


def _answer(status: int, body: bytes, content_type: str) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"content-type": content_type},
        "body": body.decode(),
        "isBase64Encoded": False,
    }
