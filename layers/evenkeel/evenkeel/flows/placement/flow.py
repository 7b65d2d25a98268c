"""One new pod: read what its floor depends on, decide, claim its place, patch it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.floor.source import noted
from evenkeel.decisions.placement.patch import KeptOff, placement_patch
from evenkeel.decisions.placement.pre_stop import sleep_operations
from evenkeel.decisions.placement.scope import (
    controller_kind,
    left_by_itself,
    left_by_namespace,
    left_to_scheduler,
)
from evenkeel.decisions.placement.spreads import soft_operations, spread_operations
from evenkeel.decisions.placement.verdict import Chosen, Counted, Left, verdict_of, verdict_of_any
from evenkeel.errors import ClusterError
from evenkeel.flows.placement.claims import sweep_claims
from evenkeel.flows.placement.counting import Choice, FloorCounter
from evenkeel.flows.placement.moves import Admitted, take
from evenkeel.flows.placement.reading import OwnerGoneError, PlacementInput, PlacementReader
from evenkeel.model import names
from evenkeel.model.admission import AdmissionRequest
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.losses import losses_in, lost_pools
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.move import Move
from evenkeel.model.notes import VERSION
from evenkeel.model.placement import NewPod, Placed, is_relaxed
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
class PodChange:
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
        self._defaults_required = settings.defaults_required
        self._labels = settings.capacity_labels
        self._reader = PlacementReader(cluster, clock, settings.capacity_labels)
        self._counter = FloorCounter(cluster, clock)
        self._clock = clock
        self._recorder = recorder
        self._lock = Lock()
        self._warned: dict[tuple[str, str], datetime] = {}
        self._cluster = cluster
        self._swept = clock.now()

    def place(self, request: AdmissionRequest, pod: NewPod) -> PodChange:
        """Place one pod; leave it as it is if something cannot be read. Raises no EvenkeelError."""
        again = Placed.of(pod)
        if self._acts and again is not None and again.is_of_this_admission(self._clock.now()):
            scales_in = controller_kind(pod) is ReplicaSet
            change = PodChange(placement_patch(pod, again, self._labels, scales_in=scales_in))
            return self._and_sleep(change, pod, self._home(request.namespace))
        began = self._clock.now()
        subject = pod.reference(request.namespace)
        left = left_by_itself(pod, request.namespace, self._labels)
        if left is not None:
            change = self._leave(subject, left)
            is_by_rules = self._acts and left.reason is Reason.OWN_RULES
            home = self._home(request.namespace) if is_by_rules else None
            return self._and_sleep(change, pod, home)
        try:
            around = self._reader.read(pod, request.namespace)
        except ClusterError as error:
            is_gone = isinstance(error, OwnerGoneError)
            left = Left(Reason.OWNER_GONE if is_gone else Reason.UNREADABLE, str(error))
            return replace(self._leave(subject, left), summary=f"did not place this pod ({error})")
        left = left_by_namespace(around.namespace, everywhere=self._everywhere)
        if left is None and around.is_paused:
            left = Left(Reason.PAUSED, "Evenkeel is paused")
        if left is not None:
            return self._leave(subject, left, _named(pod, around))
        workload = around.workload
        if workload is not None and is_by_template(workload):
            left = Left(Reason.BY_TEMPLATE, "its workload's template says where it goes")
            change = self._leave(subject, left, _named(pod, around))
        else:
            change = self._decide(request, pod, around, began)
        return self._and_sleep(change, pod, around.namespace)

    def _home(self, name: str) -> Namespace | None:
        """A pod's namespace, for its annotations; None where nothing is placed now, or unread."""
        try:
            found = self._reader.home(name)
        except ClusterError:
            return None
        if found is None or left_by_namespace(found, everywhere=self._everywhere) is not None:
            return None
        return found

    def _and_sleep(self, change: PodChange, pod: NewPod, home: Namespace | None) -> PodChange:
        """The same change, and what the pod's containers do before their SIGTERM.

        ``home`` None: nothing of the pod may be changed.
        """
        if home is None or not self._acts:
            return change
        more = sleep_operations(pod, home.metadata.annotations)
        return replace(change, patch=[*change.patch, *more])

    def _decide(
        self, request: AdmissionRequest, pod: NewPod, around: PlacementInput, began: datetime
    ) -> PodChange:
        now = self._clock.now()
        controller, workload = around.controller, around.workload
        move = around.move
        if move is not None and self._is_moved(request, pod, controller, move):
            message = "it replaces a pod that restore moves there"
            chosen = Chosen(move.target, Reason.MOVED, message, is_required=True)
            return self._apply(request, pod, around, Choice(chosen), move)
        if controller is not None and workload is not None:
            decided = verdict_of(
                pod,
                controller,
                around.deployment,
                noted(
                    around.namespace.metadata.annotations,
                    defaults_required=self._defaults_required,
                ),
                is_relaxed=is_relaxed(workload, now),
                in_gang=around.in_gang,
            )
        else:
            decided = verdict_of_any(pod, around.namespace, in_gang=around.in_gang)
        if decided.floor.problem:
            about = around.namespace if workload is None else workload
            self._warn(about.reference, decided.floor.problem, now)
        scheduler = pod.spec.scheduler_name
        left = left_to_scheduler(scheduler, decided.floor, in_gang=around.in_gang)
        match left or decided.verdict:
            case Left() as left:
                return self._leave(pod.reference(request.namespace), left, _named(pod, around))
            case Chosen() as chosen:
                choice = Choice(chosen)
            case Counted() as counted:
                assert controller is not None  # noqa: S101 - else there is nothing to count
                choice = self._counter.count(
                    counted,
                    controller,
                    pod.metadata.labels,
                    request.uid,
                    give_up=began + LONGEST_COUNTING,
                    writes=self._acts and not request.dry_run,
                )
                self._sweep(began)
        return self._apply(request, pod, around, choice)

    def _is_moved(
        self, request: AdmissionRequest, pod: NewPod, controller: Controller | None, move: Move
    ) -> bool:
        """Whether this pod is made for restore's move; not if the API server does not answer."""
        if controller is None:
            return False
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
        choice: Choice,
        move: Move | None = None,
    ) -> PodChange:
        chosen = choice.chosen
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
            return PodChange(summary=f"only observes: {message}")
        claim = request.uid if choice.slot is not None else ""
        now = self._clock.now()
        note = Placed(
            v=VERSION,
            as_=chosen.capacity,
            at=now,
            preferred=chosen.capacity is Capacity.ON_DEMAND and not chosen.is_required,
            claim=claim,
            slot=choice.slot,
            move=move.pod_uid if move is not None else "",
            barred=tuple(sorted(move.barred)) if move is not None else (),
        )
        workload = around.workload
        notes = workload.metadata.annotations if workload is not None else {}
        pools = KeptOff(
            avoid=move.avoid if move is not None else (),
            barred=move.barred if move is not None else {},
            full=pools_in(notes.get(names.FULL_POOLS)),
            lost=lost_pools(losses_in(around.notes.get(names.LOST_POOLS), now)),
        )
        patch = [
            *placement_patch(
                pod,
                note,
                self._labels.among(around.named),
                scales_in=controller_kind(pod) is ReplicaSet,
                is_only=workload is not None and workload.replicas == 1,
                bears=names.TOLERATIONS_ALLOWED not in around.namespace.metadata.annotations,
                pools=pools,
            )
        ]
        if around.controller is not None and around.deployment is not None:
            patch += spread_operations(pod, around.controller.shared_selector(around.deployment))
        if note.requires_on_demand or note.move:
            patch += soft_operations(pod)
        return PodChange(patch, summary=message)

    def _leave(
        self, subject: Reference, left: Left, workload: Reference | None = None
    ) -> PodChange:
        self._recorder.counted(Metric.PODS_LEFT)
        self._recorder.decided(
            Decision.about(subject, Verb.LEAVE, left.reason, left.message, workload=workload)
        )
        return PodChange(summary=f"leaves this pod as it is: {left.message}")

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
