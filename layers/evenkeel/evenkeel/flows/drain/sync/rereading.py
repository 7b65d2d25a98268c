"""What no watch shows of workloads and their surroundings, read again while pods hang on it.

An invocation works for minutes. Meanwhile somebody scales a StatefulSet, changes a Deployment's
strategy, or makes a Service that selects by template hash.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.errors import ClusterError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import reading
from evenkeel.flows.drain.sync.questions import Question
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.workload import ReplicaSet
from evenkeel.ports import Cluster, Recorder, Session

READ_AGAIN_AFTER = timedelta(seconds=30)
"""How old what is read once may get while a decision hangs on it."""


class Rereading:
    """Reads StatefulSets, Jobs, Deployments and surroundings again, beside the loop."""

    def __init__(
        self, cluster: Cluster, session: Session, view: View, recorder: Recorder, now: datetime
    ) -> None:
        """What is in the view was just read."""
        self._cluster = cluster
        self._session = session
        self._view = view
        self._recorder = recorder
        self._question = Question[View]()
        self._again_at = now + READ_AGAIN_AFTER

    def read_again(self, now: datetime) -> set[str]:
        """Ask if it is time, and take what was read. The controllers of which there is news."""
        found = self._question.answer(now)
        if found is not None:
            self._again_at = now + READ_AGAIN_AFTER
            try:
                return self._take(found.result())
            except ClusterError as error:
                self._recorder.noted(f"workloads and surroundings stay as they were read: {error}")
        elif now >= self._again_at and not self._question.is_open:
            self._question.ask(self._session, partial(_read, self._cluster, self._beside()), now)
        return set()

    def _beside(self) -> View:
        """The pods that something is decided about, and what watches show of their owners."""
        view, beside = self._view, View()
        beside.controllers = {
            key: each for key, each in view.controllers.items() if isinstance(each, ReplicaSet)
        }
        for pod in view.pods.active:
            if pod.released or pod.spec.node_name in view.dooms:
                beside.pods.see(pod)
        return beside

    def _take(self, read: View) -> set[str]:
        view = self._view
        looked_at = read.pods.controllers_of(read.pods)
        unwatched = {
            key
            for key in looked_at & view.controllers.keys()
            if not isinstance(view.controllers[key], ReplicaSet)
        }
        above = {
            each.controller_key
            for key, each in view.controllers.items()
            if key in looked_at and each.controller_key
        }
        changed = _replace(view.controllers, read.controllers, unwatched)
        changed |= _replace(view.deployments, read.deployments, above)
        namespaces = _replace(view.surroundings, read.surroundings, read.surroundings.keys())
        return {
            key
            for key in looked_at
            if key in changed
            or key.partition("/")[0] in namespaces
            or ((known := view.controllers.get(key)) and known.controller_key in changed)
        }


def _read(cluster: Cluster, beside: View) -> View:
    """Read what these pods hang on. Raises ClusterError."""
    reading.read_owners(cluster, beside)
    reading.read_surroundings(cluster, beside)
    return beside


def _replace(known: dict[str, Any], read: Mapping[str, Any], keys: Iterable[str]) -> set[str]:
    """Put what was read under these keys in place of what was known; the keys that changed.

    What was not found is gone. What is known by now from the reply to a write is newer than a read
    that was under way, and stays.
    """
    changed = {
        key
        for key in keys
        if known.get(key) != read.get(key) and not _is_newer(known.get(key), read.get(key))
    }
    for key in changed:
        if key in read:
            known[key] = read[key]
        else:
            known.pop(key, None)
    return changed


def _is_newer(known: object, read: object) -> bool:
    if not isinstance(known, KubernetesObject) or not isinstance(read, KubernetesObject):
        return False
    return known.uid == read.uid and known.revision > read.revision
