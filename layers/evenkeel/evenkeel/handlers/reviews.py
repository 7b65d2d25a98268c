"""AdmissionReviews in, the answered reviews out.

Each review is answered; if something fails, its request passes as it is. A body that is no
AdmissionReview of admission.k8s.io/v1, or holds no request, is refused (400).
"""

from collections.abc import Callable

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

    def answer(body: bytes) -> bytes:
        try:
            review = decoded(AdmissionReview, body)
        except UnreadableError:
            raise RefusedError(400, "the body is no AdmissionReview") from None
        if (review.api_version, review.kind) != (API_VERSION, KIND):
            raise RefusedError(400, f"only {KIND} of {API_VERSION} is understood")
        if review.request is None or not review.request.uid:
            raise RefusedError(400, "the review holds no request")
        return msgspec.json.encode(reviewer(review.request))

    return answer
