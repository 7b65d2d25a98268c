"""`evenkeel serve` with a gate that answers at once.

    python -m bench.lab.at_once serve ...

It lets as many evictions pass as the window has room for, so that the cluster has as many pods to
replace, and puts the others off. It reads and writes nothing. The server, TLS and the decoding of
reviews are the product's.
"""

import sys
from collections.abc import Mapping
from itertools import count

from evenkeel.handlers import Handler
from evenkeel.handlers.placement import EVICTIONS, Adds, adds_nothing
from evenkeel.handlers.requests import Answerer, Requests
from evenkeel.handlers.reviews import reviewed_by
from evenkeel.model.admission import AdmissionRequest, AnsweredReview, allowed, deferred
from evenkeel.ports import Clock, Cluster, Recorder
from evenkeel.settings import GateSettings, PlacementSettings
from evenkeel_cli.main import main
from evenkeel_hosting import functions


def _placement(
    settings: PlacementSettings,
    gate: GateSettings,
    cluster: Cluster,
    clock: Clock,
    recorder: Recorder,
    besides: Mapping[str, Answerer] | None = None,
    adds: Adds = adds_nothing,
) -> Handler:
    """What `functions.placement` makes, without its reviews."""
    del cluster, clock, besides, adds
    turns = count()

    def answer(request: AdmissionRequest) -> AnsweredReview:
        """By a dry run is seen that the webhook is asked: it passes, and has no turn."""
        if request.dry_run or next(turns) < gate.window:
            return allowed(request.uid)
        return deferred(request.uid, "not now", 1)

    return Requests({EVICTIONS: reviewed_by(answer)}, lambda: settings.tokens, recorder)


if __name__ == "__main__":
    functions.placement = _placement
    main(sys.argv[1:])
