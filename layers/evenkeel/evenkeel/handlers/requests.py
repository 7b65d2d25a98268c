"""HTTP requests behind a token, each handed to the answerer at its path.

All requests have the shape of API Gateway's HTTP API (payload 2.0), on Lambda and elsewhere. The
path is the only secret that EKS's API server can present: POST /v1/{token}, and a slash and a name.

| answered | when |
|---|---|
| 200 | the answerer understands the body |
| 400 | no JSON, or a body that the answerer does not understand |
| 401 | another token |
| 404, 405 | another path, another method |
| 413 | more than 3 MB |
| 415 | not application/json |
"""

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final

from evenkeel.model.metrics import Metric
from evenkeel.ports import Recorder

PREFIX: Final = "/v1/"
LARGEST: Final = 3 * 1024 * 1024
"""Bytes of a body. An object has 1.5 MB at most in etcd, and a review holds little else."""


type Answerer = Callable[[bytes], bytes]
"""Answers a body of JSON with another. Raises RefusedError for one that it does not understand."""


type Tokens = Callable[[], Sequence[str]]
"""The tokens that count now; raises nothing."""


class RefusedError(Exception):
    """A request that is refused; ``status`` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        """Keep what to answer. The message repeats nothing of the request."""
        super().__init__(message)
        self.status = status


def authenticate(path: str, tokens: Sequence[str]) -> str:
    """The rest of a path behind one of these tokens: nothing, or a slash and a name.

    How long comparing takes does not depend on how much of a token is right. Raises RefusedError.
    """
    if not path.startswith(PREFIX):
        raise RefusedError(404, "there is nothing here")
    token, slash, name = path.removeprefix(PREFIX).partition("/")
    given = token.encode("utf-8", "surrogatepass")
    if not any([compare_digest(given, token.encode()) for token in tokens]):  # noqa: C419 - all
        raise RefusedError(401, "the token is not known here")
    return slash + name


@dataclass(eq=False)
class Requests:
    """Answers requests; raises nothing. Any number of threads may call it at once.

    The answerers are there by the path behind the token: nothing, or a slash and a name.
    """

    _answerers: Mapping[str, Answerer]
    _tokens: Tokens
    _recorder: Recorder

    def __call__(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        """Answer one request of an HTTP API."""
        try:
            answerer, body = self._read(event)
            answer = _answer(200, answerer(body), "application/json")
        except RefusedError as error:
            self._recorder.counted(Metric.REVIEWS_REFUSED)
            self._recorder.noted(f"refused a request: {error}", status=error.status)
            answer = _answer(error.status, f"{error}\n".encode(), "text/plain; charset=utf-8")
        finally:
            self._recorder.flush()
        return answer

    def _read(self, event: Mapping[str, Any]) -> tuple[Answerer, bytes]:
        """The answerer of a request, and its body. Raises RefusedError."""
        try:
            method = event["requestContext"]["http"]["method"]
            where = authenticate(str(event["rawPath"]), self._tokens())
        except (KeyError, TypeError):
            raise RefusedError(400, "this is no request of an HTTP API") from None
        if where not in self._answerers:
            raise RefusedError(404, "there is nothing here")
        if method != "POST":
            raise RefusedError(405, "reviews are sent by POST")
        body = _body(event)
        headers = event.get("headers") or {}
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "a review is application/json")
        return self._answerers[where], body


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


def _answer(status: int, body: bytes, content_type: str) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"content-type": content_type},
        "body": body.decode(),
        "isBase64Encoded": False,
    }
