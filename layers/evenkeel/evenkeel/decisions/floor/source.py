"""Which floor a workload has: its own, its pod template's, its namespace's, or its kind's."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.annotations import DEFAULT_FLOORS, ON_DEMAND
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.floor import ALL, FORMS, NONE, Floor
from evenkeel.model.workload import Workload

MANY: Final = 1_000_000
"""Pods of which any floor above none has one."""


class Source(StrEnum):
    """Where a floor was found."""

    WORKLOAD = "workload"
    TEMPLATE = "template"
    NAMESPACE = "namespace"
    DEFAULT = "default"


class FloorOf(msgspec.Struct, frozen=True):
    """A workload's floor and where it comes from.

    ``problem`` says which annotation could not be read, and what it may say; empty without one.
    Where no other one says anything, the floor is all by default: new pods prefer on-demand, and no
    pod that is there moves, for what is not known never justifies spot.
    """

    floor: Floor
    source: Source
    problem: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether somebody asked for one, and nobody can tell which."""
        return self.problem != "" and not self.is_asked

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for it, and it may be required. A default is a preference."""
        return self.source is not Source.DEFAULT


def floor_of(
    workload: Workload, namespace_annotations: Mapping[str, str], *, in_gang: bool
) -> FloorOf:
    """The floor of a workload: of a ReplicaSet's Deployment, where it has one.

    ``in_gang``: its pods name a group that is a gang.

    - the annotation on the workload, else on its pod template, else on its namespace. One that
      cannot be read is told, and the next that can be counts. If none can be, the floor is unknown;
    - else a majority for a StatefulSet, which is all of one; none for the others. Its namespace may
      ask for it in one word for all of them.

    A gang has all or none.
    """
    called = str(workload.reference)
    template = workload.spec.template.metadata
    places = (
        (Source.WORKLOAD, workload.metadata.annotations, called),
        (Source.TEMPLATE, template.annotations, f"the pod template of {called}"),
        (Source.NAMESPACE, namespace_annotations, f"namespace {workload.namespace}"),
    )
    found = _first(places, workload.default_floor)
    if in_gang or (isinstance(workload, Controller) and workload.is_gang):
        return _of_a_gang(found)
    by_default = FloorOf(workload.default_floor, Source.DEFAULT)
    if found != by_default or found.floor == NONE:
        return found
    is_required = DEFAULT_FLOORS.of(namespace_annotations) == names.REQUIRED
    return FloorOf(found.floor, Source.NAMESPACE) if is_required else found


def noted(annotations: Mapping[str, str], *, defaults_required: bool) -> Mapping[str, str]:
    """A namespace's annotations, with what a setting says of default floors where they do not."""
    by_setting = {names.DEFAULT_FLOORS: names.REQUIRED} if defaults_required else {}
    return {**by_setting, **annotations}


def floor_of_any(
    pod_annotations: Mapping[str, str] | None,
    namespace: str,
    namespace_annotations: Mapping[str, str],
    *,
    in_gang: bool,
) -> FloorOf:
    """The floor of a pod of which no workload's size is known: its own, or its namespace's.

    It is none by default. ``in_gang``: the pod names a group that is a gang.
    """
    places = (
        (Source.TEMPLATE, pod_annotations or {}, f"a pod in {namespace}"),
        (Source.NAMESPACE, namespace_annotations, f"namespace {namespace}"),
    )
    found = _first(places, NONE)
    return _of_a_gang(found) if in_gang else found


def _of_a_gang(found: FloorOf) -> FloorOf:
    """The floor of pods that are of use together only: on one capacity type.

    That is on-demand where the owner wants any of them there; where nobody says, spot.
    """
    has_any = (found.is_asked or found.is_unknown) and found.floor.of(MANY) > 0
    return msgspec.structs.replace(found, floor=ALL if has_any else NONE)


def _first(places: Iterable[tuple[Source, Mapping[str, str], str]], default: Floor) -> FloorOf:
    """What the first place says that says what can be read, such as a workload's annotations."""
    problem = ""
    for source, annotations, place in places:
        text = annotations.get(names.ON_DEMAND)
        if text is None:
            continue
        floor = ON_DEMAND.read(text)
        if floor is not None:
            counts = f": {floor} counts, of its {source}" if problem else ""
            return FloorOf(floor, source, f"{problem}{counts}")
        problem = problem or f"{names.ON_DEMAND}={text[:40]!r} on {place} is not {FORMS}"
    if problem:
        stays = f"{problem}: new pods prefer on-demand until it is, and none moves"
        return FloorOf(ALL, Source.DEFAULT, stays)
    return FloorOf(default, Source.DEFAULT)
