"""AdmissionReviews in, the answered reviews out.

Each review is answered; if something fails, its request passes as it is. A body that is no
AdmissionReview of admission.k8s.io/v1, or holds no request, is refused (400).
"""

from collections.abc import Callable
from functools import partial

import msgspec

from evenkeel.errors import UnreadableError
from evenkeel.handlers.requests import Answerer, RefusedError
from evenkeel.model.admission import (
    API_VERSION,
    KIND,
    AdmissionRequest,
    AdmissionReview,
    AnsweredReview,
)
from evenkeel.model.decoding import decoded

type Reviewer = Callable[[AdmissionRequest], AnsweredReview]
"""Answers the request of a review; raises nothing."""


def reviewed_by(reviewer: Reviewer) -> Answerer:
    """Answer bodies that hold reviews."""
    return partial(_answer, reviewer)


def _answer(reviewer: Reviewer, body: bytes) -> bytes:
    return msgspec.json.encode(reviewer(_request_in(body)))


def _request_in(body: bytes) -> AdmissionRequest:
    try:
        review = decoded(AdmissionReview, body)
    except UnreadableError:
        raise RefusedError(400, "the body is no AdmissionReview") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise RefusedError(400, f"only {KIND} of {API_VERSION} is understood")
    if review.request is None or not review.request.uid:
        raise RefusedError(400, "the review holds no request")
    return review.request
