"""A cluster whose API server asks `evenkeel serve`: about new pods, or about evictions."""

import io
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Final

from bench.figure import Figure
from bench.lab.worker import Watched
from tests.e2e.placement.webhook import Ground, opened
from tests.kit.control_plane import ControlPlane

SERVE: Final = "`evenkeel serve`"
"""What figures of the product's webhook are of."""
CALLS: Final = "apiserver_admission_webhook_admission_duration_seconds"
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')


@contextmanager
def ground(control_plane: ControlPlane, namespace: str) -> Iterator[Ground]:
    """A managed namespace; at the end nothing of Evenkeel's is left outside of it."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="evenkeel-bench-"))
        yield stack.enter_context(opened(control_plane, namespace, Path(folder)))
        with redirect_stdout(io.StringIO()):  # it prints what the webhook wrote, for tests
            stack.close()


@contextmanager
def placing(
    control_plane: ControlPlane, namespace: str, notes: Mapping[str, str]
) -> Iterator[None]:
    """Have the API server itself change a namespace's new pods, as its annotations say."""
    with ground(control_plane, namespace) as found:
        control_plane.merge("v1", "Namespace", namespace, {"metadata": {"annotations": notes}})
        found.police()
        yield


@contextmanager
def gating(control_plane: ControlPlane, namespace: str) -> Iterator[Watched]:
    """Let it ask about evictions of a namespace's pods, which have to be Ready."""
    with ground(control_plane, namespace) as found:
        found.start()
        found.gate()
        yield Watched(found.webhooks[0].process)


def total(control_plane: ControlPlane, metric: str, **labels: str) -> float:
    """The sum of what the API server counts, over all series of a metric with these labels."""
    found = 0.0
    for line in control_plane.text("metrics").splitlines():
        if line.startswith((f"{metric}{{", f"{metric} ")):
            named, _, value = line.rpartition(" ")
            if labels.items() <= dict(_LABEL.findall(named)).items():
                found += float(value)
    return found


def refusals(control_plane: ControlPlane) -> float:
    """How many evictions were answered with 429 so far."""
    return total(control_plane, "apiserver_request_total", subresource="eviction", code="429")


def used(control_plane: ControlPlane, process: Watched, of: str = SERVE) -> Sequence[Figure]:
    """What a webhook's process did so far, by the API server's own account of its reviews."""
    reviews = total(control_plane, f"{CALLS}_count")
    return [
        Figure("reviews", reviews, of=of),
        Figure(
            "a review, mean", total(control_plane, f"{CALLS}_sum") / reviews * 1000, "ms", of=of
        ),
        Figure("CPU of a review", process.cpu_seconds / reviews * 1000, "ms", of=of),
        Figure("memory, at most", process.peak_mb, "MB", of=of),
    ]
