"""The Job controller, after pkg/controller/job of Kubernetes 1.36, for jobs without an index.

Pods carry a finalizer until they are counted. A pod that is being deleted counts as failed at
once, unless the Job has a podFailurePolicy: then only when it has ended, because only then its
conditions and exit codes are known. After a failure the next pod waits for a back-off.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    at,
    condition_of,
    controller_of,
    is_active,
    is_leaving,
    is_ready,
    is_true,
    key_of,
    parse_time,
    phase_of,
    stamp,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.controllers.ownership import pod_of_template, slow_start
from evenkeel_sandbox.simulator.controllers.pods import PodController
from evenkeel_sandbox.simulator.controllers.work import Call, Work, errors_in, unless_gone

FINALIZER = "batch.kubernetes.io/job-tracking"
FIRST_BACK_OFF = timedelta(seconds=10)
LONGEST_BACK_OFF = timedelta(minutes=10)


@dataclass
class Count:
    """What a Job's pods come to."""

    succeeded: int
    failed: int
    new: list[Obj]


class JobController(PodController):
    """Runs pods until enough have succeeded or too many have failed."""

    kind = "Job"

    def observe(self) -> None:
        """Watch Jobs and pods."""
        self._counted: set[str] = set()
        self._streaks: dict[str, tuple[int, datetime | None]] = {}
        super().observe()

    def reconcile(self, key: Key) -> Work:
        """Count what ended, then start or stop pods."""
        job = self.store.get("Job", key)
        if job is None:
            yield from self._let_go(self._orphans_of(key))
            return
        pods = self.store.owned(job, "Pod")
        if is_true(job, "Complete") or is_true(job, "Failed"):
            yield from self._let_go(pods)
            return
        count = self._count(job, pods)
        self._note_streak(job, count.new)
        active = [pod for pod in pods if is_active(pod)]
        condition = self._verdict(job, pods, count)
        finished: Obj | None
        if condition is not None:
            yield [self.deletion(pod) for pod in active]
            finished = {**condition, "type": "Failed"} if not active else condition
        else:
            if not is_leaving(job):
                yield from self._manage(job, pods, active, count)
            finished = _completion(job, count, active)
        yield from self._update_status(job, count, finished)
        self._counted.update(uid_of(pod) for pod in count.new)
        yield from self._let_go(count.new)

    def _orphans_of(self, key: Key) -> list[Obj]:
        """Pods of a Job that is gone: no Job will count them, so nothing may hold them."""
        return [
            pod
            for pod in self.store.all("Pod", key[0])
            if (owner := controller_of(pod)) is not None
            and (owner["kind"], owner["name"]) == ("Job", key[1])
        ]

    def _count(self, job: Obj, pods: list[Obj]) -> Count:
        new = [
            pod
            for pod in pods
            if FINALIZER in (pod["metadata"].get("finalizers") or ())
            and uid_of(pod) not in self._counted
            and (phase_of(pod) == "Succeeded" or _has_failed(pod, job))
        ]
        succeeded = sum(1 for pod in new if phase_of(pod) == "Succeeded")
        failed = sum(
            1 for pod in new if phase_of(pod) != "Succeeded" and _action(pod, job) != "Ignore"
        )
        return Count(
            at(job, "status", "succeeded", default=0) + succeeded,
            at(job, "status", "failed", default=0) + failed,
            new,
        )

    def _verdict(self, job: Obj, pods: list[Obj], count: Count) -> Obj | None:
        """The FailureTarget condition of a Job that has failed."""
        known = condition_of(job, "FailureTarget")
        if known is not None:
            return known
        failing = [
            pod
            for pod in pods
            if phase_of(pod) != "Succeeded"
            and _has_failed(pod, job)
            and _action(pod, job) == "FailJob"
        ]
        if failing:
            message = f"Pod {failing[0]['metadata']['name']} matches a FailJob rule"
            return _failure("PodFailurePolicy", message)
        if count.failed > job["spec"]["backoffLimit"]:
            return _failure("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        return None

    def _manage(self, job: Obj, pods: list[Obj], active: list[Obj], count: Count) -> Work:
        spec = job["spec"]
        completions = spec.get("completions")
        if spec.get("suspend"):
            wanted = 0
        elif completions is None:
            wanted = len(active) if count.succeeded else spec["parallelism"]
        else:
            wanted = max(0, min(completions - count.succeeded, spec["parallelism"]))
        if len(active) > wanted:
            surplus = sorted(active, key=is_ready)[: len(active) - wanted]
            yield [self.deletion(pod) for pod in surplus]
            return
        leaving = 0
        if _only_replaces_failed(job):
            leaving = sum(
                1 for pod in pods if is_leaving(pod) and phase_of(pod) in ("Pending", "Running")
            )
        missing = wanted - leaving - len(active)
        if missing <= 0:
            return
        wait = self._back_off(job)
        if wait > timedelta():
            self.enqueue_after(key_of(job), wait)
            return
        failure = yield from slow_start(missing, self._creation(job))
        if failure is not None:
            raise failure

    def _creation(self, job: Obj) -> Call:
        manifest = pod_of_template(job, job["spec"]["template"])
        metadata = manifest["metadata"]
        name = job["metadata"]["name"]
        metadata["labels"] = {
            **(metadata.get("labels") or {}),
            "batch.kubernetes.io/job-name": name,
            "job-name": name,
            "batch.kubernetes.io/controller-uid": uid_of(job),
        }
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]
        return lambda: self.server.create(manifest)

    def _let_go(self, pods: list[Obj]) -> Work:
        """Take the finalizer off pods that are counted."""
        held = [p for p in pods if FINALIZER in (p["metadata"].get("finalizers") or ())]
        if held:
            errors_in((yield [unless_gone(self._without_finalizer(pod)) for pod in held]))

    def _without_finalizer(self, pod: Obj) -> Call:
        def edit(now: Obj) -> Obj:
            left = [f for f in now["metadata"].get("finalizers") or () if f != FINALIZER]
            return {**now, "metadata": {**now["metadata"], "finalizers": left}}

        return lambda: self.server.change("Pod", key_of(pod), edit, uid=uid_of(pod))

    def _update_status(self, job: Obj, count: Count, finished: Obj | None) -> Work:
        pods = [pod for pod in self.store.owned(job, "Pod") if is_active(pod)]
        old = job.get("status") or {}
        now = self.world.now()
        status = {
            **old,
            "startTime": old.get("startTime") or stamp(now),
            "active": len(pods),
            "ready": sum(1 for pod in pods if is_ready(pod)),
            "succeeded": count.succeeded,
            "failed": count.failed,
        }
        if finished is not None:
            status = with_condition(status, finished, now)
            if finished["type"] == "Complete":
                status["completionTime"] = stamp(now)
        yield from self.set_status(job, status)

    def _note_streak(self, job: Obj, new: list[Obj]) -> None:
        """Count failures since the last success, for the back-off."""
        failures, last = self._streaks.get(uid_of(job), (0, None))
        for pod in sorted(new, key=_ended):
            if phase_of(pod) == "Succeeded":
                failures, last = 0, None
            else:
                failures, last = failures + 1, _ended(pod)
        self._streaks[uid_of(job)] = (failures, last)

    def _back_off(self, job: Obj) -> timedelta:
        failures, last = self._streaks.get(uid_of(job), (0, None))
        if not failures or last is None:
            return timedelta()
        wait: timedelta = min(FIRST_BACK_OFF * 2 ** min(failures - 1, 10), LONGEST_BACK_OFF)
        return last + wait - self.world.now()


def _completion(job: Obj, count: Count, active: list[Obj]) -> Obj | None:
    """The Complete condition of a Job that has succeeded."""
    completions = job["spec"].get("completions")
    enough = count.succeeded > 0 if completions is None else count.succeeded >= completions
    if enough and not active:
        return {"type": "Complete", "status": "True", "reason": "CompletionsReached"}
    return None


def _failure(reason: str, message: str) -> Obj:
    return {"type": "FailureTarget", "status": "True", "reason": reason, "message": message}


def _only_replaces_failed(job: Obj) -> bool:
    spec = job["spec"]
    return "podFailurePolicy" in spec or spec.get("podReplacementPolicy") == "Failed"


def _has_failed(pod: Obj, job: Obj) -> bool:
    if phase_of(pod) == "Failed":
        return True
    return not _only_replaces_failed(job) and is_leaving(pod) and phase_of(pod) != "Succeeded"


def _action(pod: Obj, job: Obj) -> str:
    """What the first matching rule of the podFailurePolicy says: Count without one."""
    for rule in at(job, "spec", "podFailurePolicy", "rules", default=()):
        on_codes = rule.get("onExitCodes")
        conditions = rule.get("onPodConditions") or ()
        if (on_codes and _matches_code(pod, on_codes)) or any(
            (condition_of(pod, pattern["type"]) or {}).get("status")
            == pattern.get("status", "True")
            for pattern in conditions
        ):
            return str(rule["action"])
    return "Count"


def _matches_code(pod: Obj, pattern: Obj) -> bool:
    codes = [
        at(status, "state", "terminated", "exitCode", default=0)
        for status in at(pod, "status", "containerStatuses", default=())
    ]
    failed = [code for code in codes if code]
    if pattern["operator"] == "In":
        return any(code in pattern["values"] for code in failed)
    return any(code not in pattern["values"] for code in failed)


def _ended(pod: Obj) -> datetime:
    """When a pod ended, as far as it says."""
    ready = condition_of(pod, "Ready")
    if phase_of(pod) in ("Succeeded", "Failed") and ready is not None:
        return parse_time(ready["lastTransitionTime"])
    if is_leaving(pod):
        granted = timedelta(seconds=pod["metadata"].get("deletionGracePeriodSeconds", 0))
        return parse_time(pod["metadata"]["deletionTimestamp"]) - granted
    return parse_time(pod["metadata"]["creationTimestamp"])
