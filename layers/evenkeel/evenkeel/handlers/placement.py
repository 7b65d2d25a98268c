"""The webhook: an HTTP request with an AdmissionReview in, the answered review out.

The requests have the shape of API Gateway's HTTP API (payload 2.0), from wherever they come. The
path is the only secret that EKS's API server can present: POST /v1/{token}.

| answered | when |
|---|---|
| 200 | a review, whatever becomes of its pod; if something failed, it passes as it is |
| 400 | no JSON, no AdmissionReview of admission.k8s.io/v1, or one without a request |
| 401 | another token |
| 404, 405 | another path, another method |
| 413 | more than 3 MB |
| 415 | not application/json |
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from hmac import compare_digest
from typing import Any, Final

import msgspec

from evenkeel.flows.placement.flow import Outcome, PlacementFlow
from evenkeel.handlers import Handler
from evenkeel.model.admission import (
    API_VERSION,
    KIND,
    AdmissionRequest,
    AdmissionReview,
    allowed,
)
from evenkeel.model.placement import NewPod
from evenkeel.ports import Clock, Cluster, Recorder
from evenkeel.settings import PlacementSettings

PREFIX: Final = "/v1/"
LARGEST: Final = 3 * 1024 * 1024
"""Bytes of a body. An object has 1.5 MB at most in etcd, and a review holds little else."""

_REVIEW = msgspec.json.Decoder(AdmissionReview)
_POD = msgspec.json.Decoder(NewPod)


class RefusedError(Exception):
    """A request that is no review of ours; ``status`` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        """Keep what to answer. The message repeats nothing of the request."""
        super().__init__(message)
        self.status = status


def build(
    settings: PlacementSettings, cluster: Cluster, clock: Clock, recorder: Recorder
) -> Handler:
    """Build the handler. Several threads may call it at once, if the recorder bears that."""
    flow = PlacementFlow(settings, cluster, clock, recorder)
    return _Webhook(flow, settings.tokens, recorder)


def authenticate(path: str, tokens: Sequence[str]) -> None:
    """Whether a path ends with one of these tokens, in a time that does not tell how much of it.

    Raises RefusedError.
    """
    if not path.startswith(PREFIX):
        raise RefusedError(404, "there is nothing here")
    given = path.removeprefix(PREFIX).encode("utf-8", "surrogatepass")
    if not any([compare_digest(given, token.encode()) for token in tokens]):  # noqa: C419 - all
        raise RefusedError(401, "the token is not known here")


class _Webhook:
    """Answers requests; raises nothing."""

    def __init__(self, flow: PlacementFlow, tokens: Sequence[str], recorder: Recorder) -> None:
        self._flow = flow
        self._tokens = tokens
        self._recorder = recorder

    def __call__(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        try:
            request = self._read(event)
            answer = _answer(200, msgspec.json.encode(self._review(request)), "application/json")
        except RefusedError as error:
            self._recorder.counted("ReviewsRefused")
            self._recorder.noted(f"refused a request: {error}", status=error.status)
            answer = _answer(error.status, f"{error}\n".encode(), "text/plain; charset=utf-8")
        finally:
            self._recorder.flush()
        return answer

    def _read(self, event: Mapping[str, Any]) -> AdmissionRequest:
        """The request of a review. Raises RefusedError."""
        try:
            method = event["requestContext"]["http"]["method"]
            authenticate(str(event["rawPath"]), self._tokens)
        except (KeyError, TypeError):
            raise RefusedError(400, "this is no request of an HTTP API") from None
        if method != "POST":
            raise RefusedError(405, "reviews are sent by POST")
        body = _body(event)
        headers = event.get("headers") or {}
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "a review is application/json")
        return _request_in(body)

    def _review(self, request: AdmissionRequest) -> object:
        if not request.creates_a_pod:
            return allowed(request.uid)
        outcome = self._place(request)
        return allowed(request.uid, outcome.patch, outcome.warnings)

    def _place(self, request: AdmissionRequest) -> Outcome:
        """Place a pod; what goes wrong leaves it as it is: it is never refused."""
        try:
            pod = _POD.decode(request.object)
            return self._flow.place(request, pod)
        except Exception as error:  # noqa: BLE001 - a webhook fails open, whatever fails
            kind = type(error).__name__
            self._recorder.counted("PlacementsFailed")
            self._recorder.noted(
                "a pod was left as it is, because something failed",
                error=kind,
                what=str(error)[:200],
                namespace=request.namespace,
            )
            return Outcome(warnings=(f"evenkeel did not place this pod ({kind})",))


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
