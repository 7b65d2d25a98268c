"""The kubelets: they run the pods that are bound to their nodes.

How long a pod takes is drawn from the options, unless its annotations say it, as durations
such as 30s (the same that the real control plane's tests use):

    evenkeel.test/start-after     from being bound to Running
    evenkeel.test/ready-after     from Running to Ready
    evenkeel.test/stop-after      from its deletion to its end, within its grace period
    evenkeel.test/complete-after  from Running to Succeeded; without it the pod runs on

With evenkeel.test/lock a pod takes the lock of that name in its namespace when it runs, and lets go
of it when it ends. One that finds it taken crashes, and starts again after 10 s, and so on, doubled
each time up to 5 minutes.

Readiness gates count as open: whoever would open them, such as a load balancer's controller, is
not simulated.
"""

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from evenkeel.model.times import go_duration, span
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    annotations_of,
    controller_of,
    is_finished,
    is_leaving,
    is_true,
    key_of,
    node_of,
    phase_of,
    stamp,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.clock import Timer
from evenkeel_sandbox.simulator.controllers.work import unless_gone
from evenkeel_sandbox.simulator.volumes import Volumes
from evenkeel_sandbox.simulator.world import World

ANNOTATION = "evenkeel.test/"
MISSED_AFTER = timedelta(seconds=50)
"""How long a node is silent before it counts as unreachable."""

FIRST_REST, LONGEST_REST = timedelta(seconds=10), timedelta(minutes=5)
"""How long a container rests that has crashed once; at most."""

ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}


class Kubelets:
    """All kubelets of the cluster, each of which can die."""

    def __init__(self, world: World) -> None:
        """Begin to observe nodes and pods."""
        self._world = world
        self._dead: set[str] = set()
        self._born_dead: set[str] = set()
        self._timers: dict[str, list[Timer]] = {}
        self.volumes = Volumes(world, self._dead.__contains__)
        world.store.observe("Node", self._node_changed)
        world.store.observe("Pod", self._pod_changed)

    def is_dead(self, node: str) -> bool:
        """Whether a node's kubelet is gone."""
        return node in self._dead

    def kill(self, node: str) -> None:
        """The machine is off: its kubelet does nothing any more, and is missed after a while."""
        self._dead.add(node)
        for pod in self._world.store.pods_on(node):
            self._cancel(uid_of(pod))
        self._world.clock.call_in(MISSED_AFTER, lambda: self._miss(node))

    def assume_dead(self, node: str) -> None:
        """Take it that a node that is about to appear has no kubelet."""
        self._dead.add(node)
        self._born_dead.add(node)

    def revive(self, node: str) -> None:
        """The machine is on again: its pods start again, those that were deleted end."""
        self._dead.discard(node)
        self._report(node)
        for pod in list(self._world.store.pods_on(node)):
            if is_leaving(pod):
                self._stop(pod)
            elif not is_finished(pod):
                self._start(pod)

    def _miss(self, name: str) -> None:
        condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}

        def silent(node: Obj) -> Obj:
            return {**node, "status": with_condition(node["status"], condition, self._world.now())}

        if name in self._dead:
            unless_gone(lambda: self._world.server.change("Node", ("", name), silent, "status"))()

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        if old is not None or new is None:
            return
        name = new["metadata"]["name"]
        if name in self._born_dead:
            self._born_dead.discard(name)
            return
        # A machine of this name that died before is another.
        self._dead.discard(name)
        if not is_true(new, "Ready"):
            self._world.clock.call_in(timedelta(), lambda: self._report(name))

    def _report(self, name: str) -> None:
        def ready(node: Obj) -> Obj:
            return {**node, "status": ready_status(node, stamp(self._world.now()))}

        if name not in self._dead:
            unless_gone(lambda: self._world.server.change("Node", ("", name), ready, "status"))()

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is None:
            if old is not None and node_of(old):
                self._cancel(uid_of(old))
            return
        node = node_of(new)
        if not node or node in self._dead:
            return
        before = old if old is not None and node_of(old) == node else None
        if is_leaving(new):
            if before is None or _grace(before) != _grace(new):
                self._stop(new)
        elif before is None and phase_of(new) == "Running":
            # It ran before this cluster began, and stays as it is.
            self._later(new, timedelta(), self._run_on)
        elif before is None and not is_finished(new):
            self._start(new)

    def _start(self, pod: Obj) -> None:
        self._cancel(uid_of(pod))
        options = self._world.options
        owner = (controller_of(pod) or {}).get("uid", "")
        usual = options.start_seconds_of.get(owner, options.start_seconds)
        delay = self._duration(pod, "start-after", usual)
        self._later(pod, delay, functools.partial(self._run, stamp(self._world.now())))

    def _run(self, start_time: str, pod: Obj) -> None:
        key, uid = key_of(pod), uid_of(pod)
        if not self.volumes.are_there(pod, lambda: self._again(key, uid, start_time)):
            return
        if self._is_locked_out(pod):
            self._crash(start_time, pod)
            return
        wait = self._duration(pod, "ready-after", self._world.options.ready_seconds)
        now = stamp(self._world.now())
        status = {**pod["status"], "phase": "Running", "startTime": start_time}
        status["containerStatuses"] = [
            {
                "name": container.get("name", ""),
                "ready": not wait,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"].get("containers") or ()
        ]
        status = self._with(status, "Initialized", "True")
        status = self._with(status, "ContainersReady", "False" if wait else "True")
        status = self._with(status, "Ready", "False" if wait else "True")
        running = self._world.server.set_status("Pod", key, status)
        if wait:
            self._later(running, wait, self._containers_ready)
        self._run_on(running)

    def _is_locked_out(self, pod: Obj) -> bool:
        """Whether another pod that runs has the lock that this one takes."""
        name = annotations_of(pod).get(f"{ANNOTATION}lock")
        return name is not None and any(
            annotations_of(each).get(f"{ANNOTATION}lock") == name
            and uid_of(each) != uid_of(pod)
            and node_of(each) not in self._dead
            and _has_started(each)
            for each in self._world.store.all("Pod", key_of(pod)[0])
        )

    def _crash(self, start_time: str, pod: Obj) -> None:
        before = pod["status"].get("containerStatuses") or ()
        crashes = 1 + sum(each["restartCount"] for each in before[:1])
        status = {**pod["status"], "phase": "Running", "startTime": start_time}
        status["containerStatuses"] = [
            {
                "name": container.get("name", ""),
                "ready": False,
                "restartCount": crashes,
                "started": False,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            }
            for container in pod["spec"].get("containers") or ()
        ]
        resting = self._world.server.set_status("Pod", key_of(pod), status)
        rest = min(FIRST_REST * 2 ** (crashes - 1), LONGEST_REST)
        self._later(resting, rest, functools.partial(self._run, start_time))

    def _again(self, key: Key, uid: str, start_time: str) -> None:
        pod = self._world.store.get("Pod", key)
        if pod is not None and uid_of(pod) == uid and not is_leaving(pod):
            self._run(start_time, pod)

    def _run_on(self, pod: Obj) -> None:
        text = annotations_of(pod).get(f"{ANNOTATION}complete-after")
        if text is not None:
            self._later(pod, _read(text), functools.partial(self._end, "Succeeded"))
        seconds = pod["spec"].get("activeDeadlineSeconds")
        if seconds is not None:
            self._later(pod, span(seconds), functools.partial(self._end, "Failed"))

    def _containers_ready(self, pod: Obj) -> None:
        status = self._with(pod["status"], "ContainersReady", "True")
        status = self._with(status, "Ready", "True")
        status["containerStatuses"] = [
            {**container, "ready": True} for container in status["containerStatuses"]
        ]
        self._world.server.set_status("Pod", key_of(pod), status)

    def _end(self, phase: str, pod: Obj) -> None:
        status = {**pod["status"], "phase": phase}
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        for condition in ("ContainersReady", "Ready"):
            status = self._with(status, condition, "False", reason)
        code = 0 if phase == "Succeeded" else 143
        status["containerStatuses"] = [
            {**container, "ready": False, "state": {"terminated": {"exitCode": code}}}
            for container in status.get("containerStatuses") or ()
        ]
        self._world.server.set_status("Pod", key_of(pod), status)

    def _stop(self, pod: Obj) -> None:
        self._cancel(uid_of(pod))
        needed = self._duration(pod, "stop-after", self._world.options.stop_seconds)
        grace = span(_grace(pod) or 0)
        self._later(pod, min(needed, grace), self._gone)

    def _gone(self, pod: Obj) -> None:
        """Report the end of the containers, then let the object go."""
        if not is_finished(pod):
            self._end("Failed", pod)
        self._world.server.delete("Pod", key_of(pod), uid=uid_of(pod), grace=0)

    def _later(self, pod: Obj, delay: timedelta, action: Callable[[Obj], None]) -> None:
        """Act on the pod as it is then, if it is still there."""
        key, uid = key_of(pod), uid_of(pod)

        def act() -> None:
            now = self._world.store.get("Pod", key)
            if now is not None and uid_of(now) == uid and node_of(now) not in self._dead:
                action(now)

        self._timers.setdefault(uid, []).append(self._world.clock.call_in(delay, act))

    def _cancel(self, uid: str) -> None:
        for timer in self._timers.pop(uid, ()):
            timer.cancel()

    def _duration(self, pod: Obj, annotation: str, usual: tuple[float, float]) -> timedelta:
        text = annotations_of(pod).get(ANNOTATION + annotation)
        if text is not None:
            return _read(text)
        return timedelta(
            seconds=self._world.rng.uniform(*usual) if usual[0] < usual[1] else usual[0]
        )

    def _with(self, status: Obj, condition: str, value: str, reason: str = "") -> Obj:
        entry = {"type": condition, "status": value, **({"reason": reason} if reason else {})}
        return with_condition(status, entry, self._world.now())


def _has_started(pod: Obj) -> bool:
    """Whether a pod's containers run: none has ended, or rests."""
    statuses = pod["status"].get("containerStatuses") or ()
    return phase_of(pod) == "Running" and not any("waiting" in each["state"] for each in statuses)


def ready_status(node: Obj, now: str) -> Obj:
    """A node's status once it is Ready, with some room if nothing says how much."""
    status = node.get("status") or {}
    room = status.get("allocatable") or status.get("capacity") or ROOM
    others = [c for c in status.get("conditions") or () if c["type"] != "Ready"]
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastTransitionTime": now,
    }
    return {"capacity": room, "allocatable": room, **status, "conditions": [*others, condition]}


def _read(text: str) -> timedelta:
    duration = go_duration(text)
    if duration is None:
        raise ValueError(f"{text!r} is no duration: write it like 1m30s or 500ms")
    return duration


def _grace(pod: Obj) -> Any:
    return pod["metadata"].get("deletionGracePeriodSeconds")
