"""One workload whose pod template places its pods: when the template is written, and when not.

Each write is a rollout. So it is written where floor or size need another form, where spot has
gone, and where it has come back; and where another tool undoes it, never again.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
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
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Create, Delete
from evenkeel.model.template import Rather, Written, is_by_template, new_trace
from evenkeel.model.times import in_words

SPREAD_RESTS: Final = timedelta(minutes=10)
"""So long after the last write a spread is put back at the earliest: spot may flap."""


class _Need(NamedTuple):
    """Why the template has to be written. ``is_urgent``: its pods wait until it is."""

    reason: Reason
    message: str
    is_urgent: bool = False
    not_before: datetime | None = None


class _Template(NamedTuple):
    """A workload's template: what was ``written`` into it, and what it shall become.

    ``spot_takes``: spot nodes take its pods.
    """

    candidate: Candidate
    written: Written | None
    aim: Aim
    spot_takes: bool


def consider(
    candidate: Candidate, now: datetime, rooms: Rooms, busy: Decision | None
) -> StepOrDecision:
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
    workload, standing = candidate.workload, candidate.standing
    if not is_by_template(workload):
        return busy or _take_off(candidate)
    written = Written.of(workload)
    undone = _undone(candidate, written)
    if undone is not None:
        return undone
    own = owners_part(workload.spec.template.spec, written)
    form = form_of(standing.wanted, standing.replicas, is_asked=standing.floor.is_asked)
    # A label that says neither capacity type is a mistake, and worth no rollout.
    labels = msgspec.structs.replace(rooms.labels, doubtful=())
    # The spread that is there is asked about, too, where the next form has none.
    spread = Form(Rather.SPOT, form.skew if written is None else max(form.skew, written.skew))
    rules = narrowed(own, spread, labels)
    aim = Aim(own, form, labels, _key(rules, written, rooms))
    hands_off = _hands_off(candidate, aim)
    if hands_off is not None:
        return hands_off
    spot_takes = bool(aim.key) and bool(rooms.taking(rules, Capacity.SPOT))
    template = _Template(candidate, written, aim, spot_takes)
    need = _need(template)
    if need is not None and need.is_urgent:
        return _write(template, need, now)
    waits = _made_anew(candidate) or _rolling(candidate, busy)
    if waits is not None:
        return waits
    if need is None:
        return _settled(template)
    if need.not_before is None or now >= need.not_before:
        return _write(template, need, now)
    message = f"spot is back; its spread is put back no sooner than {in_words(need.not_before)}"
    return candidate.wait(Reason.TEMPLATE_RESTS, message, until=need.not_before)


def _undone(candidate: Candidate, written: Written | None) -> Decision | None:
    """Leave a template from which another tool, such as GitOps, took what was added.

    The annotation tells what was added; where it is gone as well, a Lease tells that there was one.
    """
    if written is None:
        if candidate.trace is None:
            return None
    elif is_intact(candidate.workload.spec.template.spec, written):
        return None
    message = (
        "another tool, or kubectl rollout undo, took out of its pod template what restore added: it"
        " is not written again. Have the tool leave affinity, tolerations and"
        f" topologySpreadConstraints alone, then take the annotation {names.PLACEMENT} off for two"
        " minutes"
    )
    return candidate.leave(Reason.TEMPLATE_UNDONE, message, warning=True)


def _hands_off(candidate: Candidate, aim: Aim) -> Decision | None:
    """Why a template is not to be written.

    - its Deployment is paused; its StatefulSet updates nothing by itself, or not all ordinals;
    - its owner's rules exclude one capacity type;
    - what its floor is cannot be read;
    - the nodes have no capacity label in common, or its owner spreads over it already.
    """
    workload, leave = candidate.workload, candidate.leave
    if isinstance(workload, Deployment):
        if workload.spec.paused:
            return leave(Reason.ROLLOUT_PAUSED, "its rollouts are paused: it is left until then")
    else:
        strategy = workload.spec.update_strategy
        if strategy.type == "OnDelete":
            return leave(Reason.ON_DELETE, "its update strategy is OnDelete: nothing rolls it out")
        if strategy.rolling_update is not None and strategy.rolling_update.partition:
            return leave(Reason.PARTITION, "its update has a partition: it would stop half-way")
    if len(allowed_by(aim.own, aim.labels)) < len(Capacity):
        return leave(Reason.OWN_RULES, "its own rules exclude a capacity type")
    if candidate.standing.floor.is_unknown:
        return leave(Reason.BAD_FLOOR, "its floor cannot be read: its template is left as it is")
    return _unspreadable(candidate, aim) if aim.form.skew else None


def _unspreadable(candidate: Candidate, aim: Aim) -> Decision | None:
    key, leave = aim.key, candidate.leave
    if not key:
        which = f"set one of {aim.labels}"
        message = f"no capacity label is on all nodes that its pods may go to: {which}"
        return leave(Reason.NO_COMMON_LABEL, message, warning=True)
    spreads = aim.own.topology_spread_constraints or ()
    if any((s.topology_key, s.when_unsatisfiable) == (key, DO_NOT_SCHEDULE) for s in spreads):
        return leave(Reason.OWN_SPREAD, f"its template spreads its pods over {key} already")
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


def _need(template: _Template) -> _Need | None:
    """Why the template has to be written; None if it is good enough."""
    candidate, written, aim, spot_takes = template
    standing, form = candidate.standing, aim.form
    told = _told(form, standing.wanted, standing.replicas)
    if written is None:
        return _Need(Reason.TEMPLATE_WRITTEN, told)
    there, spread = Form(written.rather, written.skew), written.spread
    if spread is not None and not spot_takes:
        message = "no spot node takes its pods: they would wait for one, so the spread is dropped"
        return _Need(Reason.SPREAD_DROPPED, message, is_urgent=True)
    if _lacks_labels(candidate, written, aim):
        return _Need(Reason.TEMPLATE_FOLLOWS_LABELS, f"{told}, by the labels {aim.labels}")
    if there != form:
        if written.policy != _policy(candidate):
            return _Need(Reason.TEMPLATE_FOLLOWS_FLOOR, told)
        if not serves(there, standing.wanted, standing.replicas):
            if spread is None and there.rather is form.rather and not spot_takes:
                return None
            return _Need(Reason.TEMPLATE_FOLLOWS_SIZE, told)
    is_spread = there.skew and form.skew and spot_takes
    return _need_of_spread(written, aim.key, told) if is_spread else None


def _need_of_spread(written: Written, key: str, told: str) -> _Need | None:
    if written.spread is None:
        message = f"spot nodes take pods again: {told}"
        return _Need(Reason.SPREAD_PUT_BACK, message, not_before=written.at + SPREAD_RESTS)
    if written.spread.topology_key != key:
        return _Need(Reason.TEMPLATE_FOLLOWS_LABEL, f"all nodes have {key}: {told}")
    return None


def _policy(candidate: Candidate) -> str:
    """What the template is written for."""
    floor = candidate.standing.floor
    return str(floor.floor) if floor.is_asked else floor.source.value


def _lacks_labels(candidate: Candidate, written: Written, aim: Aim) -> bool:
    """Whether what is written asks by others than the capacity labels that count now."""
    form = Form(written.rather, written.skew)
    there = msgspec.structs.replace(aim, form=form)
    wanted = additions(candidate.workload, there, written.policy, written.at).asked
    known = {*aim.labels.keys, names.INTERRUPTIBLE}  # which stays when such nodes have gone
    return not (wanted <= written.asked and {key for key, _ in written.asked} <= known)


def _told(form: Form, floor: int, size: int) -> str:
    start = f"its floor is {floor} of {size}"
    if form.rather is Rather.ONLY_ON_DEMAND:
        return f"{start}: all go to on-demand"
    if not form.skew:
        return f"{start}: all prefer {form.rather}"
    if form.rather is Rather.ON_DEMAND:
        return f"{start}: all prefer on-demand, spread as evenly as possible"
    return f"{start}: all prefer spot, at most {form.skew} more there than on on-demand"


def _made_anew(candidate: Candidate) -> RestoreStep | None:
    stateful_set = candidate.workload
    if not isinstance(stateful_set, StatefulSet) or not _is_observed(stateful_set):
        return None
    revision = stateful_set.status.update_revision
    for pod in candidate.owned:
        if not pod.spec.node_name and pod.metadata.labels.get(names.REVISION_HASH) != revision:
            message = "it waits for a node by an older template: another is made by the present one"
            decision = candidate.about(
                Verb.DELETE,
                Reason.MADE_BY_OLD_TEMPLATE,
                message,
                pod=pod,
                write=writes.delete(pod),
            )
            return RestoreStep(decision=decision)
    return None


def _rolling(candidate: Candidate, busy: Decision | None) -> Decision | None:
    """Wait for a workload that is in a rollout, or busy otherwise."""
    workload = candidate.workload
    is_rolling = busy is not None and busy.reason == Reason.IN_ROLLOUT
    if isinstance(workload, StatefulSet):
        status = workload.status
        is_rolling = not _is_observed(workload) or status.current_revision != status.update_revision
    if is_rolling:
        message = "its template places its pods, and its rollout is under way"
        return candidate.wait(Reason.ROLLING_OUT, message)
    return busy


def _is_observed(stateful_set: StatefulSet) -> bool:
    return stateful_set.status.observed_generation >= stateful_set.metadata.generation


def _settled(template: _Template) -> Decision:
    """Leave a template that is good enough, or tell what it waits for."""
    candidate, written, _, spot_takes = template
    standing = candidate.standing
    if standing.waiting:
        return candidate.wait(Reason.PODS_WAIT, standing.told_of_waiting)
    if standing.missing:
        message = (
            f"{standing.missing} of its floor are not on on-demand, although its template asks for"
            " it: restart its rollout"
        )
        return candidate.leave(Reason.TEMPLATE_FELL_SHORT, message, warning=True)
    if standing.unmet:
        message = f"{standing.unmet} of its default floor are not on on-demand: its template asks"
        return candidate.leave(Reason.DEFAULT_FLOOR, f"{message} for it, and requires nothing")
    if written is not None and written.skew and written.spread is None and not spot_takes:
        message = "no spot node takes its pods: its spread is put back when one does"
        return candidate.wait(Reason.NO_SPOT, message)
    return candidate.leave(Reason.AS_WANTED, "its template keeps its floor")


def _write(template: _Template, need: _Need, now: datetime) -> RestoreStep:
    """Write the template. An urgent write keeps the form that is there, and drops its spread."""
    candidate, written, aim, spot_takes = template
    workload, policy = candidate.workload, _policy(candidate)
    if not spot_takes:
        aim = msgspec.structs.replace(aim, key="")
    if need.is_urgent and written is not None:
        kept = Form(written.rather, written.skew)
        aim, policy = msgspec.structs.replace(aim, form=kept), written.policy
    write = template_patch(workload, written, additions(workload, aim, policy, now))
    trace = [] if candidate.trace is not None else [Create(new_trace(workload.reference))]
    decision = candidate.about(Verb.PATCH_TEMPLATE, need.reason, need.message, write=write)
    return RestoreStep(decision=decision, after=trace, rolls=not need.is_urgent)


def _take_off(candidate: Candidate) -> RestoreStep:
    """Take off what was added, as far as it is there, and the Lease that tells of it."""
    message = "its owner does not want its template to place its pods any more"
    workload, lease = candidate.workload, candidate.trace
    forget = Delete(Lease, lease.name, lease.namespace, uid=lease.uid) if lease else None
    verb, reason = Verb.PATCH_TEMPLATE, Reason.TEMPLATE_TAKEN_OFF
    if names.TEMPLATE not in workload.metadata.annotations:
        reason = Reason.TEMPLATE_FORGOTTEN
        decision = candidate.about(verb, reason, message, write=forget)
        return RestoreStep(decision=decision)
    patch = template_patch(workload, Written.of(workload), None)
    decision = candidate.about(verb, reason, message, write=patch)
    after = [forget] if forget else []
    return RestoreStep(decision=decision, after=after, rolls=True)
