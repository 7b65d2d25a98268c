"""What is off with a workload, and what to do about it."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from evenkeel.decisions.floor.standing import Standing
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.placement.spreads import IGNORE, is_upset, lacks, wants_domains
from evenkeel.decisions.pools.spread import Spread
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.affinity import DO_NOT_SCHEDULE, TopologySpread
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import LabelSelector
from evenkeel.model.reasons import Reason
from evenkeel.model.template import is_by_template
from evenkeel_cli.decisions.waiting import Waiting

_AVAILABLE: Final = "nodes are available"


class Remark(msgspec.Struct, frozen=True):
    """What is off, in a word or two, and what to do about it.

    ``warning``: replicas are at risk because of it.
    """

    reason: Reason
    brief: str
    message: str
    warning: bool = False


def of_standing(
    standing: Standing, evictions: Sequence[Waiting], *, unseen: bool = False
) -> Sequence[Remark]:
    """What is off, worst first; nothing where all is as its owner wants it.

    ``evictions`` of its pods wait at the gate. ``unseen``: nothing is known of its namespace.
    """
    found = []
    if standing.missing:
        found.append(_missing(standing, unseen=unseen))
    elif unseen and not standing.floor.is_asked:
        pass  # its namespace may ask for another
    elif standing.unmet:
        found.append(_unmet(standing))
    elif standing.survivors < standing.wanted:
        down = standing.wanted - standing.survivors
        message = f"{_of_floor(down, standing)} not Ready: see their events"
        is_risk = standing.floor.is_asked
        found.append(Remark(Reason.FLOOR_NOT_READY, f"{down} not Ready", message, warning=is_risk))
    if standing.floor.problem:
        brief = "floor unreadable"
        found.append(Remark(Reason.FLOOR_UNREADABLE, brief, standing.floor.problem, warning=True))
    if standing.released:
        message = f"{standing.released} pods are being handed over: they leave when replaced"
        found.append(Remark(Reason.MOVING, f"{standing.released} moving", message))
    if evictions:
        number = len(evictions)
        brief = "1 eviction waits" if number == 1 else f"{number} evictions wait"
        messages = "; ".join(each.message for each in evictions)
        found.append(Remark(Reason.EVICTIONS_WAIT, brief, messages))
    if standing.surplus and standing.is_managed and not is_by_template(standing.workload):
        above = f"{standing.surplus} more than its floor of {standing.wanted}"
        message = (
            f"{above}{_are(standing.surplus)} on on-demand nodes: restore moves them to spot, one"
            " at a time"
        )
        found.append(Remark(Reason.ABOVE_FLOOR, f"{standing.surplus} above its floor", message))
    return found


def _missing(standing: Standing, *, unseen: bool) -> Remark:
    brief = f"{standing.missing} below its floor"
    start = f"{_of_floor(standing.missing, standing)} not on on-demand nodes"
    if unseen:
        reason, remedy = Reason.BELOW_FLOOR, ""
    elif not standing.is_managed:
        reason, remedy = (
            Reason.NOT_MANAGED,
            (
                ", because its pods are not placed: label the namespace"
                f" {names.MANAGED}=true, then restart its rollout"
            ),
        )
    elif standing.waiting:
        lacks_room = _is_about_nodes(standing.why_waiting)
        reason = Reason.NO_ROOM if lacks_room else Reason.PODS_WAIT
        advice = ": add on-demand capacity" if lacks_room else ""
        remedy = f"; {standing.told_of_waiting}{advice}"
    elif is_by_template(standing.workload):
        reason, remedy = Reason.BELOW_FLOOR, ": its template places its pods"
    else:
        reason, remedy = Reason.BELOW_FLOOR, ": restore moves pods there, one at a time"
    return Remark(reason, brief, f"{start}{remedy}", warning=True)


def _is_about_nodes(why: str) -> bool:
    """Whether what is said of a pod that waits is about nodes, of which more might help.

    The scheduler counts nodes with each of its reasons; a gate, and a claim that is not bound, keep
    a pod off all of them at once. Nothing is said before the scheduler has looked.
    """
    return not why or (_AVAILABLE in why and not re.search(rf"{_AVAILABLE}: \D", why))


def _unmet(standing: Standing) -> Remark:
    """A default is a preference: what it misses is said, and breaks nothing that was asked for."""
    number = standing.unmet
    holds = (
        "new pods prefer on-demand, and none is moved"
        if standing.is_managed
        else "in a namespace that is not managed nothing heeds it"
    )
    message = (
        f"{_of_floor(number, standing)} not on on-demand nodes. The floor is a default: {holds}."
        f" Set {names.ON_DEMAND} to say what is wanted"
    )
    return Remark(Reason.DEFAULT_FLOOR, f"{number} below its default floor", message)


def _of_floor(number: int, standing: Standing) -> str:
    """``1 of its floor of 2 is``."""
    return f"{number} of its floor of {standing.wanted}{_are(number)}"


def _are(number: int) -> str:
    return " is" if number == 1 else " are"


def of_pools(
    standing: Standing,
    spread: Spread,
    goal: int,
    pools: Callable[[], int],
    *,
    in_gang: bool = False,
    unseen: bool = False,
) -> Sequence[Remark]:
    """What is off with a workload that has a goal; nothing while it is kept.

    ``unseen``: nothing is known of its namespace, and so not whether a pod moves. ``pools`` counts
    the pools that take its pods. It looks at all nodes, so it is asked only where a pool has more
    than the goal.
    """
    most = max(spread.held.values(), default=0)
    if most <= goal:
        return []
    taking = pools()
    on_spot = sum(spread.held.values())
    needed = -(-on_spot // goal)
    if needed > taking:
        message = (
            f"its {on_spot} pods on spot need {needed} pools to have {goal} at most in each, and"
            f" {taking} can take them: add instance types or zones"
        )
        return [Remark(Reason.POOLS_TOO_FEW, "too few pools", message, warning=True)]
    fullest = spread.full(goal)[0]
    message = f"{most} of its pods are in one pool ({fullest}), which is to have {goal} at most"
    if not unseen:
        message = f"{message}: {_what_moves(standing, in_gang=in_gang)}"
    return [Remark(Reason.POOL_TOO_FULL, "pool too full", message, warning=True)]


def _what_moves(standing: Standing, *, in_gang: bool) -> str:
    """What is done about a pool with too many of a workload's pods."""
    if standing.workload.namespace in names.CLUSTERS_OWN:
        return "nothing moves in this namespace"
    if not standing.is_managed:
        return "its namespace is not managed: nothing moves"
    if is_by_template(standing.workload):
        return "its template places its pods: nothing moves"
    if in_gang:
        return "new pods rather go to others, and the pods of a gang stay"
    if not isinstance(standing.workload, Deployment):
        return "new pods rather go to others, and the pods of a StatefulSet stay"
    return "new pods rather go to others, and restore moves a pod at a time"


def of_policy(candidate: Candidate) -> Sequence[Remark]:
    """What the admission policy cannot tell of a workload whose pods it places."""
    if not (candidate.standing.is_managed and candidate.untold):
        return []
    message = "; ".join(candidate.untold)
    is_risk = candidate.standing.floor.is_asked
    return [Remark(Reason.POLICY_CANNOT_TELL, "policy cannot tell", message, warning=is_risk)]


def of_spreads(candidate: Candidate, labels: CapacityLabels) -> Sequence[Remark]:
    """What is off with the hard spreads of pods to which the webhook adds nothing.

    Those are pods whose namespace is not managed, that the policy or their template places, or
    whose own rules exclude a capacity type, of which these labels tell.
    """
    workload = candidate.workload
    rules = workload.spec.template.spec
    is_placed = (
        candidate.standing.is_managed
        and not candidate.by_policy
        and not is_by_template(workload)
        and len(allowed_by(rules, labels)) == len(Capacity)
    )
    if is_placed or not isinstance(workload, Deployment):
        return []
    spreads = rules.topology_spread_constraints or ()
    messages = [upset for each in spreads if (upset := of_spread(each, workload.spec.selector))]
    if not messages:
        return []
    brief = "a drain upsets its spread"
    return [Remark(Reason.SPREAD_COUNTS_RELEASED, brief, "; ".join(messages))]


def of_spread(spread: TopologySpread, workload: LabelSelector) -> str:
    """What a spread lacks whose pods a Deployment with this selector makes; empty if nothing."""
    if not is_upset(spread, workload):
        return ""
    fields = [
        f"{field}: {value}" if isinstance(value, str) else f"{field}: [{', '.join(value)}]"
        for field, value in lacks(spread, workload).items()
    ]
    return (
        f"its hard spread over {spread.topology_key} counts pods that are handed over, so that a"
        f" drain leaves it uneven: add {' and '.join(fields)}"
    )


def of_domains(spread: TopologySpread) -> str:
    """Why a hard spread that wants several domains is to be left; empty for another."""
    if spread.when_unsatisfiable != DO_NOT_SCHEDULE or not wants_domains(spread):
        return ""
    return (
        f"its hard spread over {spread.topology_key} wants {spread.min_domains} domains: while"
        f" fewer count, each takes {spread.max_skew} pods (maxSkew) at most, so add neither"
        " nodeTaintsPolicy: Honor nor matchLabelKeys, by which drained ones count less"
    )


def of_few_domains(candidate: Candidate, rooms: Rooms) -> Sequence[Remark]:
    """Which hard spreads of a workload the floor that somebody asked for contradicts.

    New pods of the floor may go to on-demand nodes alone, and over the domains of these alone the
    scheduler counts a spread. ``rooms`` tell the nodes that take the workload's pods.
    """
    standing, workload = candidate.standing, candidate.workload
    is_placed = standing.is_managed and not is_by_template(workload)
    if not (is_placed and standing.floor.is_asked and standing.wanted):
        return []
    spreads = workload.spec.template.spec.topology_spread_constraints or ()
    hard = [
        each
        for each in spreads
        if each.when_unsatisfiable == DO_NOT_SCHEDULE and each.topology_key not in rooms.labels
    ]
    told = [_of_few_domains(each, candidate, rooms) for each in hard]
    brief, message = "on-demand in few domains", "; ".join(filter(None, told))
    return [Remark(Reason.FLOOR_IN_FEW_DOMAINS, brief, message, warning=True)] if message else []


def _of_few_domains(spread: TopologySpread, candidate: Candidate, rooms: Rooms) -> str:
    """What becomes of a floor under a hard spread; empty if it has its place."""
    key, wanted, rules = spread.topology_key, candidate.standing.wanted, candidate.rules()
    few, others = (
        {node.metadata.labels.get(key, "") for node in rooms.taking(rules, capacity)} - {""}
        for capacity in (Capacity.ON_DEMAND, Capacity.SPOT)
    )
    if not few:
        return ""
    number, every = len(few), len(few | others)
    where = (
        f"its pods are spread hard over {key}, and on-demand nodes are in {number} of {every}"
        " domains"
    )
    mend = "add on-demand nodes in others, or ask for a lower floor"
    even = -(-candidate.standing.replicas // every) + spread.max_skew - 1
    is_short = number < (spread.min_domains or 1)
    most = spread.max_skew if is_short else even
    if (is_short or spread.node_affinity_policy == IGNORE) and wanted > number * most:
        return (
            f"{where}: these take {number * most} of its floor of {wanted}, and the others wait"
            f" until restore lets them go to spot; {mend}"
        )
    fullest = -(-wanted // number)
    if is_short or fullest <= even:
        return ""
    return (
        f"{where}: new pods of its floor of {wanted} count these alone, so that one may get"
        f" {fullest} of its pods, without a floor {even}; {mend}"
    )


def of_floor_beside(spread: TopologySpread) -> str:
    """What the floor of a workload needs that is spread hard over domains; empty for another."""
    if spread.when_unsatisfiable != DO_NOT_SCHEDULE or spread.topology_key in WELL_KNOWN:
        return ""
    return (
        f"its pods are spread hard over {spread.topology_key}: its floor takes on-demand nodes"
        " in each of its domains, else the pods of the floor are on fewer, or wait"
    )
