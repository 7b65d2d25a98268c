"""One Eviction: what the gate says of it is told in its status; what is canceled is taken back."""

from datetime import timedelta
from typing import Final

from evenkeel.decisions.drain.writes import roll_back_patch
from evenkeel.decisions.gate import eviction as gate
from evenkeel.decisions.gate.eviction import Allowed, Evictor
from evenkeel.decisions.gate.gate import SHORTEST_RETRY
from evenkeel.errors import ChangedError, ClusterError, NotFoundError
from evenkeel.flows import pause
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.flows.reads import answer, ask_for_one
from evenkeel.flows.replies import error_in
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get
from evenkeel.ports import Clock, Cluster, Recorder
from evenkeel_responder.eviction import Eviction, PodReference
from evenkeel_responder.report import Task, report

BY: Final = "an EvictionRequest of "
"""How who asked is called in records, and in the release of a pod that this led to."""

STANDS_STILL: Final = frozenset({Reason.PAUSED, Reason.OBSERVED})
"""Verdicts by which an eviction passes the gate, and nothing may be written."""

LOOK_AGAIN_AFTER: Final = timedelta(seconds=10)
"""How often it is looked whether something may be written."""

AFTER_A_FAILURE: Final = timedelta(seconds=1)
"""How long until the next try of what the API server did not take."""


class Responder:
    """Any number of threads may use it, and any number of processes have one."""

    def __init__(self, flow: GateFlow, cluster: Cluster, clock: Clock, recorder: Recorder) -> None:
        """``flow`` decides."""
        self._flow = flow
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder

    def carry_out(self, task: Task, eviction: Eviction) -> timedelta | None:
        """Do what has to be done about an Eviction; in how long it is to be looked at again.

        None: not before something happens to it.
        """
        pod = eviction.spec.target.pod
        if pod is None or task is Task.NONE:
            return None
        try:
            if task is Task.ANSWER:
                return self._answer(eviction, pod)
            return self._take_back(eviction, pod)
        except NotFoundError:
            return None
        except ChangedError as error:
            self._recorder.counted(Metric.WRITES_CONFLICTED)
            return self._failed(eviction, error)
        except ClusterError as error:
            self._recorder.counted(Metric.WRITES_FAILED)
            return self._failed(eviction, error)

    def _failed(self, eviction: Eviction, error: ClusterError) -> timedelta:
        what = f"{eviction.namespace}/{eviction.name}"
        self._recorder.noted(f"could not answer the eviction {what}: {error}")
        return AFTER_A_FAILURE

    def _answer(self, eviction: Eviction, pod: PodReference) -> timedelta | None:
        """Have the gate decide, and tell. Raises ClusterError where nothing could be told."""
        evictor = Evictor(username=BY + eviction.asked_by)
        asked = gate.Eviction(
            name=pod.name, namespace=eviction.namespace, uid=pod.uid, evictor=evictor
        )
        verdict = self._flow.review(asked)
        if verdict.reason in STANDS_STILL:
            return LOOK_AGAIN_AFTER
        told = report(eviction, verdict, self._clock.now())
        if told is not None:
            (reply,) = self._cluster.perform([told])
            answer(reply)
        return None if isinstance(verdict, Allowed) else max(verdict.retry_after, SHORTEST_RETRY)

    def _take_back(self, eviction: Eviction, reference: PodReference) -> timedelta | None:
        """Put a pod back that was released for a request which stands no longer.

        One that was released for anything else stays as it is. Raises ClusterError.
        """
        pod = ask_for_one(self._cluster, Get(Pod, reference.name, eviction.namespace))
        if pod is None or pod.uid != reference.uid or not pod.active or not pod.released:
            return None
        release = pod.release
        if release is None or not release.is_asked:
            return None
        if not release.asked_by.startswith(BY):
            return None
        if pause.is_paused(self._cluster):
            return LOOK_AGAIN_AFTER
        message = f"{release.asked_by} is withdrawn: back to its owner"
        back = Decision.about(
            pod,
            Verb.ROLL_BACK,
            Reason.NOT_ASKED_AGAIN,
            message,
            write=roll_back_patch(pod, release),
        )
        (reply,) = self._cluster.perform([back.write] if back.write is not None else [])
        if (error := error_in(reply)) is not None:
            raise error
        self._recorder.decided(back)
        return None
