"""Which of a StatefulSet's replicas a pod is."""

from evenkeel.model import names
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.placement import NewPod
from evenkeel.model.pod import Pod

MOST_DIGITS = 10
"""Of an ordinal. What is longer is none."""


def ordinal_of(pod: Pod | NewPod) -> int | None:
    """The ordinal of a StatefulSet's pod, by its label, else by its name; None if neither tells.

    https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-index-label
    """
    metadata, owner = pod.metadata, pod.controller
    set_name, _, suffix = metadata.name.rpartition("-")
    by_name = suffix if owner is not None and owner.name == set_name else ""
    text = (metadata.labels or {}).get(names.POD_INDEX, by_name)
    is_number = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) if is_number else None


def index_of(pod: Pod | NewPod, controller: Controller) -> int | None:
    """Which replica a pod is, from 0; None if its ordinal is not known, or below the first."""
    ordinal = ordinal_of(pod)
    index = -1 if ordinal is None else ordinal - (controller.first_ordinal or 0)
    return index if index >= 0 else None
