"""The Lambda functions as Lambda loads them: the file app.py, the name ``handler``.

Loaded, they are bound to whatever they should act on instead of AWS.
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evenkeel.flows.drain.lease.sharing import Call
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.handover import build as build_handover
from evenkeel.handlers.interruption import build as build_interruption
from evenkeel.handlers.placement import Adds, adds_nothing
from evenkeel.handlers.placement import build as build_placement
from evenkeel.handlers.requests import Answerer
from evenkeel.handlers.restore import build as build_restore
from evenkeel.model.division import MOST
from evenkeel.ports import Clock, Cluster, Ports, Queue, Recorder
from evenkeel.settings import (
    GateSettings,
    HandoverSettings,
    InterruptionSettings,
    PlacementSettings,
    RestoreSettings,
)
from evenkeel_hosting.files import FUNCTIONS

HANDOVERS: Final = MOST + 1
"""So many batches of wake-ups Lambda handles at once: MaximumConcurrency in template.yaml.

One for each reconciler of a divided storm, and one that looks whether it is needed.
"""


def interruption(
    settings: InterruptionSettings, ports: Ports, notices: Queue, wake_ups: Queue
) -> Handler:
    """The interruption function, with memory of its own. Raises ImportError."""
    function = load("interruption")
    function.bind(build_interruption(settings, ports, notices, wake_ups))
    return function


def handover(
    settings: HandoverSettings, ports: Ports, wake_ups: Queue, call: Call | None = None
) -> Handler:
    """The handover function, with memory of its own. Raises ImportError.

    ``call`` has another one take a share of a storm; None: by a wake-up.
    """
    function = load("handover")
    function.bind(build_handover(settings, ports, wake_ups, call))
    return function


def placement(
    settings: PlacementSettings,
    gate: GateSettings,
    cluster: Cluster,
    clock: Clock,
    recorder: Recorder,
    besides: Mapping[str, Answerer] | None = None,
    adds: Adds = adds_nothing,
) -> Handler:
    """The placement function, with memory of its own. Raises ImportError.

    ``besides``: who answers at paths that the deployed function does not have. ``adds``: what a new
    pod is given beside its place.
    """
    function = load("placement")
    handler = build_placement(settings, gate, cluster, clock, recorder, besides=besides, adds=adds)
    function.bind(handler)
    return function


def restore(settings: RestoreSettings, ports: Ports, wake_ups: Queue) -> Handler:
    """The restore function, with memory of its own. Raises ImportError."""
    function = load("restore")
    function.bind(build_restore(settings, ports.cluster, wake_ups, ports.clock, ports.recorder))
    return function


def load(name: str, folder: Path = FUNCTIONS) -> Lazy:
    """The handler of the function in the folder ``name``; every call loads a new one.

    Nothing connects yet: bind what it should do, or it would build a handler for AWS. Raises
    ImportError where the file is not there, and TypeError where it is no function.
    """
    path = folder / name / "app.py"
    spec = importlib.util.spec_from_file_location("app", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"the function {name} is not at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler = module.handler
    if not isinstance(handler, Lazy):
        raise TypeError(f"{path} has no lazy handler: it is not the function that Lambda runs")
    return handler
