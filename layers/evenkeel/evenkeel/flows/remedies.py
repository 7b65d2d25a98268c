"""Errors of the API server: the metric that counts them, and what an operator can do."""

from collections.abc import Mapping

from evenkeel.errors import (
    ClusterError,
    ForbiddenError,
    NothingDoneError,
    UnauthenticatedError,
)
from evenkeel.model.metrics import Metric
from evenkeel.ports import Recorder


def metric_of(error: ClusterError) -> Metric:
    """ClusterForbidden where the API server refuses the role (401, 403).

    Else ClusterUnreachable: no connection, a certificate that is not trusted, no answer in time,
    5xx, throttling for the whole budget, or an answer that no Kubernetes API gives.
    """
    refused = isinstance(error, ForbiddenError | UnauthenticatedError)
    return Metric.CLUSTER_FORBIDDEN if refused else Metric.CLUSTER_UNREACHABLE


def record_unread(recorder: Recorder, unread: Mapping[str, ClusterError]) -> None:
    """Count and log why budgets, Services and policies of namespaces could not be read."""
    for namespace, error in unread.items():
        recorder.counted(metric_of(error))
        recorder.noted(
            "could not read all budgets, Services and policies of a namespace; those that were read"
            f" last count: {error}",
            namespace=namespace,
        )


def nothing_done(error: ClusterError) -> NothingDoneError:
    """The error that a scheduled invocation raises if this one let it read nothing.

    It says what an operator can do about it.
    """
    match error:
        case UnauthenticatedError():
            remedy = (
                "the API server does not accept the function's role (401): unless the log blames a"
                " clock, restore its access entry, or its line in aws-auth"
            )
        case ForbiddenError():
            remedy = (
                "the API server accepts the function's role and forbids what it needs (403):"
                " evenkeel doctor says which right is missing and what gives it back"
            )
        case _:
            remedy = (
                "the API server cannot be used: check that it is up, and the endpoint, the"
                " certificate authority and the network that the stack was deployed with"
            )
    return NothingDoneError(f"{remedy}: {error}")
