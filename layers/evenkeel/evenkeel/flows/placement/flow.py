"""One new pod: read what its floor depends on, decide, claim its place, patch it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.floor.source import floor_of_any
from evenkeel.decisions.placement.patch import NO_POOLS, KeptOff, placement_patch
from evenkeel.decisions.placement.scope import (
    controller_kind,
    left_by_itself,
    left_by_namespace,
    left_to_scheduler,
)
from evenkeel.decisions.placement.share import share_of, share_of_any
from evenkeel.decisions.placement.spreads import spread_operations
from evenkeel.decisions.placement.verdict import Chosen, Counted, Left
from evenkeel.errors import ClusterError
from evenkeel.flows.placement.claims import sweep_claims
from evenkeel.flows.placement.counting import Counter, Place
from evenkeel.flows.placement.moves import Admitted, take
from evenkeel.flows.placement.reading import OwnerGoneError, PlacementInput, Reader
from evenkeel.model import names
from evenkeel.model.admission import AdmissionRequest
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.losses import losses_in, lost_pools
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.move import Move
from evenkeel.model.placement import NewPod, Placed, is_relaxed, placed_as
from evenkeel.model.pool import pools_in
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Operation
from evenkeel.model.template import is_by_template
from evenkeel.ports import Clock, Cluster, Recorder
from evenkeel.settings import Mode, PlacementSettings
from evenkeel.settings.placement import LONGEST_COUNTING

WARN_AGAIN_AFTER: Final = timedelta(minutes=10)
"""Time between two warnings about one floor that cannot be read: each new pod meets it."""

MOST_WARNINGS: Final = 1_000
"""So many warnings are kept, to give none twice."""

SWEEPING: Final = timedelta(minutes=1)
"""Time between two sweeps of old claims by one process."""

QUICKLY: Final = timedelta(milliseconds=500)
"""A review that took no longer than this may sweep old claims, too."""

_COUNTS: Final = {
    Capacity.ON_DEMAND: Metric.PODS_PLACED_ON_DEMAND,
    Capacity.SPOT: Metric.PODS_PLACED_ON_SPOT,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pod is changed: not at all if the patch is empty.

    ``summary`` says what was decided, for a dry run; empty if it was decided before.
    """

    patch: Sequence[Operation] = ()
    summary: str = ""


class PlacementFlow:
    """Places new pods. One object serves a process; any number of threads may use it."""

    def __init__(
        self, settings: PlacementSettings, cluster: Cluster, clock: Clock, recorder: Recorder
    ) -> None:
        """In observe mode it decides and records, but changes no pod and claims nothing."""
        self._acts = settings.mode is Mode.ACT
        self._everywhere = settings.everywhere
        self._labels = settings.capacity_labels
        self._reader = Reader(cluster, clock, settings.capacity_labels)
        self._counter = Counter(cluster, clock)
        self._clock = clock
        self._recorder = recorder
        self._lock = Lock()
        self._warned: dict[tuple[str, str], datetime] = {}
        self._cluster = cluster
        self._swept = clock.now()

    def place(self, request: AdmissionRequest, pod: NewPod) -> Outcome:
        """Place one pod; leave it as it is if something cannot be read. Raises no EvenkeelError."""
        again = Placed.of(pod)
        if again is not None and self._was_placed(again):
            return Outcome(self._patch(pod, again, self._labels))
        began = self._clock.now()
        subject = pod.reference(request.namespace)
        left = left_by_itself(pod, request.namespace, self._labels)
        if left is not None:
            return self._leave(subject, left)
        try:
            around = self._reader.read(pod, request.namespace)
        except ClusterError as error:
            is_gone = isinstance(error, OwnerGoneError)
            left = Left(Reason.OWNER_GONE if is_gone else Reason.UNREADABLE, str(error))
            return replace(self._leave(subject, left), summary=f"did not place this pod ({error})")
        left = left_by_namespace(around.namespace, everywhere=self._everywhere)
        if left is None and around.is_paused:
            left = Left(Reason.PAUSED, "Evenkeel is paused")
        workload = around.workload
        if left is None and workload is not None and is_by_template(workload):
            left = Left(Reason.BY_TEMPLATE, "its workload's template says where it goes")
        if left is not None:
            return self._leave(subject, left, _named(pod, around))
        return self._decide(request, pod, around, began)

    def _was_placed(self, note: Placed) -> bool:
        """Whether the API server reviews again a pod that was placed a moment ago."""
        return self._acts and note.is_of_this_admission(self._clock.now())

    def _decide(
        self, request: AdmissionRequest, pod: NewPod, around: PlacementInput, began: datetime
    ) -> Outcome:
        now = self._clock.now()
        controller, workload = around.controller, around.workload
        if controller is None or workload is None:
            return self._decide_without_size(request, pod, around)
        if around.move is not None and self._is_moved(request, pod, controller, around.move):
            return self._apply(request, pod, around, _moved(around.move), around.move)
        share = share_of(
            pod,
            controller,
            around.deployment,
            around.namespace.metadata.annotations,
            is_relaxed=is_relaxed(workload, now),
            in_gang=around.in_gang,
        )
        if share.floor.problem:
            self._warn(workload.reference, share.floor.problem, now)
        left = left_to_scheduler(pod.spec.scheduler_name, share.floor, in_gang=around.in_gang)
        if left is not None:
            return self._leave(pod.reference(request.namespace), left, _named(pod, around))
        match share.verdict:
            case Counted() as counted:
                place = self._counter.place(
                    counted,
                    controller,
                    pod.metadata.labels,
                    request.uid,
                    give_up=began + LONGEST_COUNTING,
                    writes=self._acts and not request.dry_run,
                )
                self._sweep(began)
            case Chosen() as chosen:
                place = Place(chosen)
        return self._apply(request, pod, around, place)

    def _decide_without_size(
        self, request: AdmissionRequest, pod: NewPod, around: PlacementInput
    ) -> Outcome:
        """By the namespace's floor, for a pod whose owner does not say how many pods it has."""
        space = around.namespace
        found = floor_of_any(
            pod.metadata.annotations,
            space.name,
            space.metadata.annotations,
            in_gang=around.in_gang,
        )
        if found.problem:
            self._warn(space.reference, found.problem, self._clock.now())
        left = left_to_scheduler(pod.spec.scheduler_name, found, in_gang=around.in_gang)
        verdict = left or share_of_any(pod, found)
        if isinstance(verdict, Left):
            return self._leave(pod.reference(request.namespace), verdict, _named(pod, around))
        return self._apply(request, pod, around, Place(verdict))

    def _is_moved(
        self, request: AdmissionRequest, pod: NewPod, controller: Controller, move: Move
    ) -> bool:
        """Whether this pod is made for restore's move; not if the API server does not answer."""
        admitted = Admitted(controller.reference, pod.metadata.name, request.uid)
        writes = self._acts and not request.dry_run
        try:
            return take(self._cluster, move, admitted, self._clock.now(), writes=writes)
        except ClusterError:
            return False

    def _apply(
        self,
        request: AdmissionRequest,
        pod: NewPod,
        around: PlacementInput,
        place: Place,
        move: Move | None = None,
    ) -> Outcome:
        chosen = place.chosen
        message = f"to {chosen.capacity}: {chosen.message}"
        self._recorder.counted(_COUNTS[chosen.capacity])
        if chosen.reason == Reason.NOT_COUNTED:
            self._recorder.counted(Metric.PLACEMENTS_NOT_COUNTED)
        self._recorder.decided(
            Decision.about(
                pod.reference(request.namespace),
                Verb.PLACE,
                chosen.reason,
                message,
                workload=_named(pod, around),
            )
        )
        if not self._acts:
            return Outcome(summary=f"only observes: {message}")
        claim = request.uid if place.slot is not None else ""
        now = self._clock.now()
        note = placed_as(
            chosen.capacity,
            now,
            preferred=chosen.capacity is Capacity.ON_DEMAND and not chosen.is_required,
            claim=claim,
            slot=place.slot,
            move=move.pod_uid if move is not None else "",
        )
        labels = self._labels.among(around.named)
        workload = around.workload
        notes = workload.metadata.annotations if workload is not None else {}
        pools = KeptOff(
            avoid=move.avoid if move is not None else (),
            full=pools_in(notes.get(names.FULL_POOLS)),
            lost=lost_pools(losses_in(around.notes.get(names.LOST_POOLS), now)),
        )
        is_only = workload is not None and workload.replicas == 1
        patch = [*self._patch(pod, note, labels, is_only=is_only, pools=pools)]
        if around.controller is not None and around.deployment is not None:
            patch += spread_operations(pod, around.controller.shared_selector(around.deployment))
        return Outcome(patch, summary=message)

    def _patch(
        self,
        pod: NewPod,
        note: Placed,
        labels: CapacityLabels,
        *,
        is_only: bool = False,
        pools: KeptOff = NO_POOLS,
    ) -> Sequence[Operation]:
        return placement_patch(
            pod,
            note,
            labels,
            scales_in=controller_kind(pod) is ReplicaSet,
            is_only=is_only,
            pools=pools,
        )

    def _leave(self, subject: Reference, left: Left, workload: Reference | None = None) -> Outcome:
        self._recorder.counted(Metric.PODS_LEFT)
        self._recorder.decided(
            Decision.about(subject, Verb.LEAVE, left.reason, left.message, workload=workload)
        )
        return Outcome(summary=f"leaves this pod as it is: {left.message}")

    def _sweep(self, began: datetime) -> None:
        """Sweep old claims once a minute, unless this pod has waited long already."""
        now = self._clock.now()
        with self._lock:
            if not self._acts or now - self._swept < SWEEPING or now - began > QUICKLY:
                return
            self._swept = now
        try:
            swept = sweep_claims(self._cluster, now)
        except ClusterError as error:
            self._recorder.noted(f"old claims could not be swept: {error}")
        else:
            self._recorder.counted(Metric.CLAIMS_SWEPT, swept)

    def _warn(self, workload: Reference, problem: str, now: datetime) -> None:
        """Warn of a floor that cannot be read, once in a while."""
        key = (str(workload), problem)
        with self._lock:
            last = self._warned.get(key)
            if last is not None and now - last < WARN_AGAIN_AFTER:
                return
            if len(self._warned) >= MOST_WARNINGS:
                self._warned.clear()
            self._warned[key] = now
        self._recorder.decided(
            Decision.about(workload, Verb.REJECT, Reason.BAD_FLOOR, problem, warning=True)
        )


def _named(pod: NewPod, around: PlacementInput) -> Reference | None:
    """What a person would name as the pod's workload; None of a bare pod."""
    owner = pod.controller
    if around.workload is not None or owner is None:
        return around.workload.reference if around.workload is not None else None
    return Reference(kind=owner.full_kind, namespace=around.namespace.name, name=owner.name)


def _moved(move: Move) -> Place:
    message = "it replaces a pod that restore moves there"
    return Place(Chosen(move.target, Reason.MOVED, message, is_required=True))
