"""The webhook's two reviews: where a new pod goes, and whether an eviction passes.

In a dry run a warning says what was decided, so that a person sees that the webhook was asked.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from evenkeel.decisions.gate.eviction import Deferred, Eviction, Evictor
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.flows.placement.flow import PlacementFlow
from evenkeel.handlers import Handler
from evenkeel.handlers.requests import Answerer, Requests, Tokens
from evenkeel.handlers.reviews import reviewed_by
from evenkeel.model.admission import (
    AdmissionRequest,
    AnsweredReview,
    EvictionBody,
    allowed,
    deferred,
)
from evenkeel.model.decoding import decoded
from evenkeel.model.metrics import Metric
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Operation
from evenkeel.ports import Clock, Cluster, Recorder
from evenkeel.settings import GateSettings, PlacementSettings

type Adds = Callable[[AdmissionRequest], Sequence[Operation]]
"""What a new pod is given beside its place."""


def adds_nothing(_: AdmissionRequest) -> Sequence[Operation]:
    """A new pod is given its place alone."""
    return ()


PLACEMENT, EVICTIONS = "", "/evictions"
"""What follows the token in the path."""


def build(  # noqa: PLR0913, PLR0917 - what it acts on, each of it once
    settings: PlacementSettings,
    gate: GateSettings,
    cluster: Cluster,
    clock: Clock,
    recorder: Recorder,
    tokens: Tokens | None = None,
    besides: Mapping[str, Answerer] | None = None,
    adds: Adds = adds_nothing,
) -> Handler:
    """Build the handler. Several threads may call it at once, if the recorder bears that.

    ``tokens`` None: those of the settings. ``besides``: who answers at further paths.
    ``adds``: what new pods are given beside their places.
    """
    placing = PlacementFlow(settings, cluster, clock, recorder)
    gating = GateFlow(gate, cluster, clock, recorder)
    answerers = {
        PLACEMENT: reviewed_by(partial(_place, placing, adds, recorder)),
        EVICTIONS: reviewed_by(partial(_gate, gating, recorder)),
        **(besides or {}),
    }
    return Requests(answerers, tokens or (lambda: settings.tokens), recorder)


def _place(
    flow: PlacementFlow, adds: Adds, recorder: Recorder, request: AdmissionRequest
) -> AnsweredReview:
    """Place a pod. It is never refused: an error leaves it as it is."""
    if not request.creates_of_pod():
        return allowed(request.uid)
    try:
        outcome = flow.place(request, decoded(NewPod, request.object))
        patch = (*outcome.patch, *adds(request))
    except Exception as error:  # noqa: BLE001 - a webhook fails open, whatever fails
        failed = Metric.PLACEMENTS_FAILED
        what = _failed(recorder, request, error, failed, "a pod was left as it is")
        return allowed(request.uid, warnings=(f"evenkeel did not place this pod ({what})",))
    warnings = (f"evenkeel {outcome.summary}",) if request.dry_run and outcome.summary else ()
    return allowed(request.uid, patch, warnings)


def _gate(flow: GateFlow, recorder: Recorder, request: AdmissionRequest) -> AnsweredReview:
    """Let an eviction pass, or defer it. An error lets it pass."""
    if not request.creates_of_pod("eviction"):
        return allowed(request.uid)
    try:
        body = decoded(EvictionBody, request.object)
        user, options = request.user_info, request.options
        evictor = Evictor(
            username=user.username,
            groups=frozenset(user.groups or ()),
            field_manager=options.field_manager if options is not None else "",
        )
        eviction = Eviction(
            name=request.name or body.metadata.name,
            namespace=request.namespace,
            evictor=evictor,
            dry_run=bool(request.dry_run) or body.is_dry_run,  # the request or its deletion asks
        )
        verdict = flow.review(eviction)
    except Exception as error:  # noqa: BLE001 - a webhook fails open, whatever fails
        what = _failed(recorder, request, error, Metric.GATE_FAILED, "an eviction passed")
        return allowed(request.uid, warnings=(f"evenkeel did not look at this eviction ({what})",))
    if isinstance(verdict, Deferred):
        return deferred(request.uid, verdict.message, int(verdict.retry_after.total_seconds()))
    warns = verdict.warning or eviction.dry_run
    warnings = (f"evenkeel: {verdict.message}",) if warns else ()
    return allowed(request.uid, warnings=warnings)


def _failed(
    recorder: Recorder, request: AdmissionRequest, error: Exception, metric: Metric, what: str
) -> str:
    """Record a failure. Answers the name of the error, which says nothing of the request."""
    kind = type(error).__name__
    recorder.counted(metric)
    recorder.noted(
        f"{what}, because something failed",
        error=kind,
        what=str(error)[:200],
        namespace=request.namespace,
    )
    return kind
