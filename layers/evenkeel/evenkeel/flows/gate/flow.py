"""One eviction: gather what it depends on, decide, and release its pod where that comes first."""

from datetime import timedelta

import msgspec

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.returning import EVICTION
from evenkeel.decisions.drain.route import route_of
from evenkeel.decisions.gate import gate
from evenkeel.decisions.gate.eviction import Allowed, Deferred, Eviction, Verdict
from evenkeel.decisions.gate.gate import WINDOW_FULL
from evenkeel.decisions.gate.scope import passes_by_itself, passes_by_namespace
from evenkeel.errors import (
    ChangedError,
    ClusterError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows.gate.concurrency import Concurrency
from evenkeel.flows.gate.reading import EvictionReader
from evenkeel.flows.gate.window import Window
from evenkeel.flows.replies import error_in, undoing
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.ports import Clock, Cluster, Recorder, Reply
from evenkeel.settings import GateSettings, Mode


class GateFlow:
    """Decides about evictions. One object serves a process; any number of threads may use it."""

    def __init__(
        self, settings: GateSettings, cluster: Cluster, clock: Clock, recorder: Recorder
    ) -> None:
        """In observe mode every eviction passes, and what would be done is told."""
        self._settings = settings
        self._observes = settings.mode is Mode.OBSERVE
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder
        self._reader = EvictionReader(cluster, clock)
        self._window = Window(cluster, clock, settings.window)
        self._concurrency = Concurrency(clock)

    def review(self, eviction: Eviction) -> Verdict:
        """Decide about one eviction. Raises nothing of its own.

        What cannot be decided about in time is deferred; what the API server does not show is
        deferred while its patience lasts, and passes where it is refused.
        """
        if eviction.evictor.is_evenkeel:
            return Allowed(reason=Reason.OWN, message="Evenkeel asks for it")
        with self._concurrency.slot(eviction) as has_slot:
            verdict = self._review(eviction) if has_slot else None
        if self._observes:
            verdict = Allowed(reason=Reason.OBSERVED, message="Evenkeel only observes")
        elif verdict is None:
            message = "many evictions are asked for at once: this one is decided about in its turn"
            verdict = self._put_off(eviction, Reason.CROWDED, message)
        if isinstance(verdict, Allowed):
            self._concurrency.passed(eviction)
        return verdict

    def _review(self, eviction: Eviction) -> Verdict:
        waited = self._concurrency.waited(eviction)
        try:
            if self._concurrency.is_in_turn(eviction) and not (
                self._window.has_room(eviction.namespace)
                or (waited >= self._settings.patience and self._window.may_exceed())
            ):
                # It was looked at before: nothing of it is read again.
                return self._put_off(eviction, Reason.WINDOW_FULL, WINDOW_FULL)
            verdict, pod, workload = self._decide(eviction, waited)
        except NotFoundError as error:
            return Allowed(reason=Reason.NOT_FOUND, message=str(error))
        except (ThrottledError, UnavailableError) as error:
            return self._unread(eviction, error)
        except ClusterError as error:
            self._recorder.counted(Metric.GATE_FAILED)
            self._recorder.noted(
                f"an eviction passes, for what it depends on is not known: {error}"
            )
            message = f"did not look at this eviction ({error})"
            return Allowed(reason=Reason.UNREADABLE, message=message)
        self._tell(verdict, pod, workload, eviction)
        if isinstance(verdict, Allowed):
            return verdict
        in_turn = verdict.in_turn
        retry_after = self._concurrency.defer(eviction, verdict.retry_after, in_turn=in_turn)
        return msgspec.structs.replace(verdict, retry_after=retry_after)

    def _put_off(self, eviction: Eviction, reason: Reason, message: str) -> Deferred:
        """An eviction that is not decided about now comes back."""
        self._recorder.counted(Metric.EVICTIONS_DEFERRED)
        retry_after = self._concurrency.defer(eviction)
        return Deferred(reason=reason, message=message, retry_after=retry_after)

    def _unread(self, eviction: Eviction, error: ClusterError) -> Verdict:
        """An eviction that the API server does not answer about waits while it has patience."""
        message = f"the API server does not answer: {error}"
        waited = self._concurrency.unread(eviction)
        if waited < self._settings.patience:
            return self._put_off(eviction, Reason.UNREADABLE, message)
        self._recorder.counted(Metric.GATE_FAILED)
        message = f"for {waited.total_seconds():.0f} s {message}"
        self._recorder.noted(f"an eviction passes: {message}")
        return Allowed(reason=Reason.PATIENCE_OVER, message=message, warning=True)

    def _decide(
        self, eviction: Eviction, waited: timedelta
    ) -> tuple[Verdict, Pod, Reference | None]:
        """The verdict, the pod that it is about, and its workload as far as that was read.

        ``waited``: how long ago this process was asked first. Raises ClusterError.
        """
        found = self._reader.subject(eviction.name, eviction.namespace)
        if eviction.uid not in {"", found.pod.uid}:
            raise NotFoundError(f"there is no pod {found.pod.name} with the uid {eviction.uid}")
        passes = passes_by_namespace(found.namespace, everywhere=self._settings.everywhere)
        if passes is None and found.is_paused:
            passes = Allowed(reason=Reason.PAUSED, message="Evenkeel is paused")
        if passes is not None:
            return passes, found.pod, None
        workload = self._reader.workload(found.pod)
        of = workload.owner.workload
        around, now = workload.namespace_objects, self._clock.now()
        way = route_of(found.pod, workload.owner, around, EVICTION, now)
        passes = passes_by_itself(found.pod, workload.owner, way)
        if passes is not None:
            return passes, found.pod, of
        held = workload.namespace_objects.budgets_of(found.pod)
        has_room = found.pod.released or self._window.has_room(found.pod.namespace)

        def decide(census: Census) -> Verdict:
            situation = gate.GatedPod(
                pod=found.pod,
                census=census,
                held=held,
                has_room=has_room,
                may_exceed=self._window.may_exceed(),
                waited=waited,
                patience=self._settings.patience,
            )
            return gate.decide(situation, eviction.evictor)

        census = self._reader.census(workload)
        verdict = decide(census)
        if isinstance(verdict, Allowed) and verdict.counted:
            workload = self._reader.confirmed(workload, census)
            verdict = decide(self._reader.census(workload, afresh=True))
        return self._carry_out(verdict, eviction, found.pod.revision, waited), found.pod, of

    def _carry_out(
        self, verdict: Verdict, eviction: Eviction, revision: int, waited: timedelta
    ) -> Verdict:
        """Carry out the step that comes first, mostly a release. Raises ClusterError.

        ``revision`` is that of the pod as it was read. A note that is refused changes nothing: the
        eviction waits as long as this process knows that it does.
        """
        if not isinstance(verdict, Deferred) or verdict.step is None:
            return verdict
        if verdict.step.write is None or eviction.dry_run or self._observes:
            return verdict
        releases = verdict.step.verb is Verb.RELEASE
        if releases:
            self._window.took(eviction.namespace, eviction.name)
        (reply,) = self._cluster.perform([verdict.step.write])
        error = error_in(reply)
        if isinstance(error, NotFoundError | ThrottledError | UnavailableError):
            raise error
        if error is not None:
            self._take_back(reply)
            return self._refused(eviction, error, revision, waited) if releases else verdict
        if releases:
            self._recorder.counted(Metric.PODS_RELEASED)
        self._recorder.decided(verdict.step)
        return verdict

    def _take_back(self, reply: Reply) -> None:
        """Put a pod back of whose release a part was undone; where that fails, the next review."""
        for taken in self._cluster.perform(undoing(reply)):
            if (error := error_in(taken)) is not None:
                self._recorder.counted(Metric.WRITES_FAILED)
                self._recorder.noted(f"a release that is half undone is not taken back: {error}")

    def _refused(
        self, eviction: Eviction, error: ClusterError, revision: int, waited: timedelta
    ) -> Verdict:
        """The pod cannot be released: another write came first, or it is refused for good.

        That is so if no other write can have come first: not before this try and the last one.
        """
        may_be_race = isinstance(error, ChangedError)
        how = type(error), revision
        is_for_good = not may_be_race or self._concurrency.is_refused_again(eviction, how)
        if is_for_good:
            self._recorder.counted(Metric.WRITES_REFUSED)
            self._recorder.counted(Metric.GATE_FAILED)
        is_over = waited >= self._settings.patience
        return gate.refused(error, is_for_good=is_for_good, is_over=is_over)

    def _tell(
        self, verdict: Verdict, pod: Pod, workload: Reference | None, eviction: Eviction
    ) -> None:
        deferred = isinstance(verdict, Deferred)
        self._recorder.counted(Metric.EVICTIONS_DEFERRED if deferred else Metric.EVICTIONS_PASSED)
        who = eviction.evictor.username
        self._recorder.decided(
            Decision.about(
                pod,
                Verb.WAIT if deferred else Verb.LEAVE,
                verdict.reason,
                f"{who} asks to evict it: {verdict.message}",
                workload=workload,
                warning=isinstance(verdict, Allowed) and verdict.warning,
            )
        )
