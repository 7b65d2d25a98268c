"""One workload whose pod template places its pods: when the template is written, and when not.

Each write is a rollout. So it is written where floor or size need another form, where spot has
gone, and where it has come back; and where another tool undoes it, never again.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.template.additions import (
    Aim,
    additions,
    is_intact,
    narrowed,
    owners_part,
    template_patch,
)
from evenkeel.decisions.template.form import Form, form_of, serves
from evenkeel.model import names
from evenkeel.model.affinity import DO_NOT_SCHEDULE, NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Create, Delete, Write
from evenkeel.model.template import Rather, Written, is_by_template, new_trace
from evenkeel.model.times import in_words

RESTS: Final = timedelta(minutes=10)
"""So long after the last write a spread is put back at the earliest: spot may flap."""


class _Need(NamedTuple):
    """Why the template has to be written. ``is_urgent``: its pods wait until it is."""

    reason: Reason
    message: str
    is_urgent: bool = False
    not_before: datetime | None = None


def concerns(case: Case) -> bool:
    """Whether a workload's template places its pods, or has done so."""
    is_written = names.TEMPLATE in case.workload.metadata.annotations
    return is_by_template(case.workload) or is_written or case.trace is not None


def consider(case: Case, snapshot: Snapshot, rooms: Rooms, *, busy: Decision | None) -> Outcome:
    """Decide about one workload. ``busy``: why it is in the middle of something.

    - its owner does not want this any more: what was added is taken off;
    - it was undone: never again, and that is told;
    - it may not be written, or would do nothing: see ``_hands_off``;
    - the spread waits for spot, and no spot node takes pods: it is dropped, also in a rollout,
      which may wait for just that;
    - a StatefulSet's pod waits for a node by an older template: it is deleted, because its
      controller waits for it to get Ready first;
    - a workload in a rollout, or busy, waits;
    - else it is written where ``_need`` says so.
    """
    if not is_by_template(case.workload):
        return busy or _take_off(case)
    written = Written.of(case.workload)
    undone = _undone(case, written)
    if undone is not None:
        return undone
    own = owners_part(case.workload.spec.template.spec, written)
    standing = case.standing
    form = form_of(standing.wanted, standing.replicas, is_asked=standing.floor.is_asked)
    # A label that says neither capacity type is a mistake, and worth no rollout.
    labels = msgspec.structs.replace(rooms.labels, doubtful=())
    # The spread that is there is asked about, too, where the next form has none.
    spread = Form(Rather.SPOT, max(form.skew, written.skew if written is not None else 0))
    rules = narrowed(own, spread, labels)
    aim = Aim(own, form, labels, _key(rules, written, rooms))
    hands_off = _hands_off(case, aim)
    if hands_off is not None:
        return hands_off
    spot_takes = bool(aim.key) and bool(rooms.taking(rules, Capacity.SPOT))
    need = _need(case, written, aim, spot_takes=spot_takes)
    if not spot_takes:
        aim = msgspec.structs.replace(aim, key="")
    if need is not None and need.is_urgent:
        return _write(case, written, aim, snapshot.now, need)
    return (
        _made_anew(case)
        or _rolling(case, busy)
        or _settled(case, written, need, snapshot.now, spot_takes=spot_takes)
        or _write(case, written, aim, snapshot.now, need)
    )


def _undone(case: Case, written: Written | None) -> Decision | None:
    """Leave a template from which another tool, such as GitOps, took what was added.

    The annotation tells what was added; where it is gone as well, a Lease tells that there was one.
    """
    if written is None:
        if case.trace is None:
            return None
    elif is_intact(case.workload.spec.template.spec, written):
        return None
    message = (
        "another tool, or kubectl rollout undo, took out of its pod template what restore added: it"
        " is not written again. Have the tool leave affinity, tolerations and"
        f" topologySpreadConstraints alone, then take the annotation {names.PLACEMENT} off for two"
        " minutes"
    )
    return leave(case, Reason.TEMPLATE_UNDONE, message, warning=True)


def _hands_off(case: Case, aim: Aim) -> Decision | None:
    """Why a template is not to be written.

    - its Deployment is paused; its StatefulSet updates nothing by itself, or not all ordinals;
    - its owner's rules exclude one capacity type;
    - the nodes have no capacity label in common, or its owner spreads over it already.
    """
    workload = case.workload
    if isinstance(workload, Deployment):
        if workload.spec.paused:
            return leave(
                case, Reason.ROLLOUT_PAUSED, "its rollouts are paused: it is left until then"
            )
    else:
        strategy = workload.spec.update_strategy
        if strategy.type == "OnDelete":
            return leave(
                case, Reason.ON_DELETE, "its update strategy is OnDelete: nothing rolls it out"
            )
        if strategy.rolling_update is not None and strategy.rolling_update.partition:
            return leave(
                case, Reason.PARTITION, "its update has a partition: it would stop half-way"
            )
    if len(allowed_by(aim.own, aim.labels)) < len(Capacity):
        return leave(case, Reason.OWN_RULES, "its own rules exclude a capacity type")
    if not aim.form.skew:
        return None
    key = aim.key
    if not key:
        which = f"set one of {aim.labels}"
        message = f"no capacity label is on all nodes that its pods may go to: {which}"
        return leave(case, Reason.NO_COMMON_LABEL, message, warning=True)
    spreads = aim.own.topology_spread_constraints or ()
    if any((s.topology_key, s.when_unsatisfiable) == (key, DO_NOT_SCHEDULE) for s in spreads):
        return leave(case, Reason.OWN_SPREAD, f"its template spreads its pods over {key} already")
    return None


def _key(rules: NewPodSpec, written: Written | None, rooms: Rooms) -> str:
    """The label to spread over: one that all nodes have which pods may go to; empty without one.

    The one that is written stays while it is good: another would be another rollout.
    """
    nodes = [node for each in Capacity for node in rooms.taking(rules, each)]
    common = [key for key in rooms.labels.keys if all(key in n.metadata.labels for n in nodes)]
    there = written.spread.topology_key if written is not None and written.spread else ""
    if there in common or (there and not common):
        return there
    return common[0] if common else ""


def _need(case: Case, written: Written | None, aim: Aim, *, spot_takes: bool) -> _Need | None:
    """Why the template has to be written; None if it is good enough."""
    standing, form = case.standing, aim.form
    told = _told(form, standing.wanted, standing.replicas)
    if written is None:
        return _Need(Reason.TEMPLATE_WRITTEN, told)
    there = Form(written.rather, written.skew)
    spread = written.spread
    if spread is not None and not spot_takes:
        message = "no spot node takes its pods: they would wait for one, so the spread is dropped"
        return _Need(Reason.SPREAD_DROPPED, message, is_urgent=True)
    if _lacks_labels(case, written, aim):
        return _Need(Reason.TEMPLATE_FOLLOWS_LABELS, f"{told}, by the labels {aim.labels}")
    if there != form:
        if written.policy != _policy(case):
            return _Need(Reason.TEMPLATE_FOLLOWS_FLOOR, told)
        if not serves(there, standing.wanted, standing.replicas):
            if spread is None and there.rather is form.rather and not spot_takes:
                return None
            return _Need(Reason.TEMPLATE_FOLLOWS_SIZE, told)
    is_spread = bool(there.skew and form.skew)
    return _need_of_spread(written, aim.key, told) if is_spread and spot_takes else None


def _policy(case: Case) -> str:
    """What the template is written for."""
    floor = case.standing.floor
    return str(floor.floor) if floor.is_asked else floor.source.value


def _lacks_labels(case: Case, written: Written, aim: Aim) -> bool:
    """Whether what is written asks by others than the capacity labels that count now."""
    form = Form(written.rather, written.skew)
    there = msgspec.structs.replace(aim, form=form)
    wanted = additions(case.workload, there, written.policy, written.at).asked
    known = {*aim.labels.keys, names.INTERRUPTIBLE}  # which stays when such nodes have gone
    return not (wanted <= written.asked and {key for key, _ in written.asked} <= known)


def _need_of_spread(written: Written, key: str, told: str) -> _Need | None:
    if written.spread is None:
        message = f"spot nodes take pods again: {told}"
        return _Need(Reason.SPREAD_PUT_BACK, message, not_before=written.at + RESTS)
    if written.spread.topology_key != key:
        return _Need(Reason.TEMPLATE_FOLLOWS_LABEL, f"all nodes have {key}: {told}")
    return None


def _told(form: Form, floor: int, size: int) -> str:
    start = f"its floor is {floor} of {size}"
    if form.rather is Rather.ONLY_ON_DEMAND:
        return f"{start}: all go to on-demand"
    if not form.skew:
        return f"{start}: all prefer {form.rather}"
    if form.rather is Rather.ON_DEMAND:
        return f"{start}: all prefer on-demand, spread as evenly as possible"
    return f"{start}: all prefer spot, at most {form.skew} more there than on on-demand"


def _made_anew(case: Case) -> Step | None:
    stateful_set = case.workload
    if not isinstance(stateful_set, StatefulSet):
        return None
    revision = stateful_set.status.update_revision
    stale: Iterator[Pod] = (
        pod
        for pod in case.owned
        if not pod.spec.node_name and pod.metadata.labels.get(names.REVISION_HASH) != revision
    )
    pod = next(stale, None)
    if pod is None or not _is_observed(stateful_set):
        return None
    message = "it waits for a node by an older template: another is made by the present one"
    write = writes.delete(pod)
    decision = about(case, Verb.DELETE, Reason.MADE_BY_OLD_TEMPLATE, message, pod=pod, write=write)
    return Step(workload=stateful_set.key, decision=decision)


def _rolling(case: Case, busy: Decision | None) -> Decision | None:
    """Wait for a workload that is in a rollout, or busy otherwise."""
    workload = case.workload
    is_rolling = busy is not None and busy.reason == Reason.IN_ROLLOUT
    if isinstance(workload, StatefulSet):
        status = workload.status
        is_rolling = not _is_observed(workload) or status.current_revision != status.update_revision
    if is_rolling:
        message = "its template places its pods, and its rollout is under way"
        return leave(case, Reason.ROLLING_OUT, message, verb=Verb.WAIT)
    return busy


def _is_observed(stateful_set: StatefulSet) -> bool:
    return stateful_set.status.observed_generation >= stateful_set.metadata.generation


def _settled(
    case: Case, written: Written | None, need: _Need | None, now: datetime, *, spot_takes: bool
) -> Decision | None:
    """Why nothing is written; None if it is."""
    standing = case.standing
    if need is not None:
        if need.not_before is None or now >= need.not_before:
            return None
        message = f"spot is back; its spread is put back no sooner than {in_words(need.not_before)}"
        return leave(case, Reason.TEMPLATE_RESTS, message, verb=Verb.WAIT, until=need.not_before)
    if standing.waiting:
        return leave(case, Reason.PODS_WAIT, standing.told_of_waiting, verb=Verb.WAIT)
    if standing.missing:
        message = (
            f"{standing.missing} of its floor are not on on-demand, although its template asks for"
            " it: restart its rollout"
        )
        return leave(case, Reason.TEMPLATE_FELL_SHORT, message, warning=True)
    if standing.unmet:
        message = f"{standing.unmet} of its default floor are not on on-demand: its template asks"
        return leave(case, Reason.DEFAULT_FLOOR, f"{message} for it, and requires nothing")
    if written is not None and written.skew and written.spread is None and not spot_takes:
        message = "no spot node takes its pods: its spread is put back when one does"
        return leave(case, Reason.NO_SPOT, message, verb=Verb.WAIT)
    return leave(case, Reason.AS_WANTED, "its template keeps its floor")


def _write(
    case: Case,
    written: Written | None,
    aim: Aim,
    now: datetime,
    need: _Need | None,
) -> Step:
    """Write the template. An urgent write keeps the form that is there, and drops its spread."""
    assert need is not None  # noqa: S101 - a template that is good enough is left
    workload = case.workload
    if need.is_urgent and written is not None:
        kept = Form(written.rather, written.skew)
        aim, policy = msgspec.structs.replace(aim, form=kept), written.policy
    else:
        policy = _policy(case)
    after = additions(workload, aim, policy, now)
    trace: Sequence[Write] = (
        [] if case.trace is not None else [Create(new_trace(workload.reference))]
    )
    decision = about(
        case,
        Verb.PATCH_TEMPLATE,
        need.reason,
        need.message,
        write=template_patch(workload, written, after),
    )
    return Step(workload=workload.key, decision=decision, after=trace, rolls=not need.is_urgent)


def _take_off(case: Case) -> Step:
    """Take off what was added, as far as it is there, and the Lease that tells of it."""
    message = "its owner does not want its template to place its pods any more"
    lease = case.trace
    forget = Delete(Lease, lease.name, lease.namespace, uid=lease.uid) if lease else None
    if names.TEMPLATE not in case.workload.metadata.annotations:
        decision = about(
            case, Verb.PATCH_TEMPLATE, Reason.TEMPLATE_FORGOTTEN, message, write=forget
        )
        return Step(workload=case.workload.key, decision=decision)
    patch = template_patch(case.workload, Written.of(case.workload), None)
    decision = about(case, Verb.PATCH_TEMPLATE, Reason.TEMPLATE_TAKEN_OFF, message, write=patch)
    return Step(
        workload=case.workload.key, decision=decision, after=[forget] if forget else [], rolls=True
    )
