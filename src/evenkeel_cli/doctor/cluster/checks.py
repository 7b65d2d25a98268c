"""The checks in the cluster, one a line of the table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError, UnauthenticatedError
from evenkeel.flows.drain.lease.deployed import are_deployed
from evenkeel.flows.reads import ask_for_one
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Get
from evenkeel_cli import manifests, words
from evenkeel_cli.decisions.balancing import GATES, without_gates
from evenkeel_cli.doctor import check, rights
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.check import (
    Check,
    Finding,
    broken,
    fine,
    not_looked,
    of_error,
    reads,
    unknown,
)
from evenkeel_cli.doctor.cluster import dry_runs, nodes, webhooks
from evenkeel_cli.doctor.cluster.answers import Metrics, parsed
from evenkeel_cli.doctor.cluster.certificate import certificates
from evenkeel_cli.doctor.cluster.drainers import LINK, other_drainers
from evenkeel_cli.doctor.cluster.facts import ClusterFacts
from evenkeel_cli.headroom import present, sizing, wording
from evenkeel_cli.headroom.present import Present
from evenkeel_cli.headroom.sizing import Need
from evenkeel_cli.program import NAME
from evenkeel_responder.eviction import Eviction

SERVER: Final = "API server"
MOST_NAMED: Final = 3
"""Rights that are named where many are missing."""

AGAIN: Final = f"{NAME} upgrade --cluster-name NAME --apply, or apply manifests/ again"
"""A wheel has no folder that a person could apply; an installation by hand may have no stack."""

DENY: Final = "Deny"
SEATS: Final = "evenkeel-seats"
"""What allows handover no pods but these."""

EVICTIONS: Final = f"{Eviction.resource.group}/{Eviction.resource.version}"
SERVE: Final = "app.kubernetes.io/component=serve"
FLAG: Final = "--responder"
OBSERVES: Final = "--dry-run"
UNANSWERED: Final = 0.01
"""The share of calls without an answer that restore makes up for unnoticed."""

TOLERANCE: Final = timedelta(seconds=5)
"""A last moment is computed to the second, and has no more to spare than this."""

HERE: Final = "clock here"
RECONCILER: Final = "clock of the reconciler"
_SECONDS: Final = re.compile("-?[0-9]{1,9}")


def look(facts: ClusterFacts) -> Iterator[Finding]:
    """Every link of this half; the API server alone where it does not answer."""
    answers = api_server(facts.server)
    yield answers
    if answers.verdict is check.Verdict.FINE:
        yield from check.look(CHECKS, facts)


def api_server(server: ApiServer) -> Finding:
    """Whether the API server answers."""
    try:
        server.read("/version", "get /version")
    except (ForbiddenError, UnauthenticatedError) as error:
        return of_error(error, link=SERVER)
    except ClusterError as error:
        return broken(str(error), "see that it is up and can be reached from here", link=SERVER)
    return fine("it answers", link=SERVER)


def pause(facts: ClusterFacts) -> Finding:
    """Whether Evenkeel may act: while the pause is in force nothing is touched."""
    if facts.pause() is None:
        return fine("Evenkeel is not paused")
    return broken(f"Evenkeel is {facts.pause()}")


def installation(facts: ClusterFacts) -> Finding:
    """Whether Evenkeel is in the cluster: what runs with other rights than the manifests', too."""
    if facts.is_by_manifests():
        return fine("the roles of the manifests are there")
    polls = are_deployed(facts.cluster, facts.clock.now())
    runs = [f"{NAME} poll"] * polls + [f"{NAME} serve"] * bool(facts.hooks())
    if runs:
        said = f"without the roles of the manifests there is {' and '.join(runs)} at work"
        return fine(said)
    return broken("Evenkeel is not installed in this cluster")


def role_rights(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether each role may do all that the manifests grant it."""
    for subject, wanted in facts.granted().items():
        link = f"rights of {subject.title}"
        refused = facts.refused().get(subject, ())
        if not refused:
            said = f"it may do all {len(wanted)} things that the manifests grant"
            yield fine(said, link=link)
            continue
        more = f", and {len(refused) - MOST_NAMED} more" if len(refused) > MOST_NAMED else ""
        named = ", ".join(map(str, refused[:MOST_NAMED]))
        yield broken(f"the API server forbids {subject}: {named}{more}", link=link)


def version_of_rights(facts: ClusterFacts) -> Finding:
    """Whether the roles in the cluster are those that come with this command."""
    roles, here = facts.roles(), rights.of_command()
    if missing := [name for name, version in roles.items() if version is None]:
        return broken(f"there is no ClusterRole {', '.join(missing)}")
    if other := [name for name, version in roles.items() if version != here]:
        found = ", ".join(sorted({roles[name] or "no version" for name in other}))
        return broken(f"{', '.join(other)}: {found}, and this command has {here}")
    return fine(here)


def version_of_code(facts: ClusterFacts) -> Finding | Iterable[Finding]:
    """Whether the stack's code was made with the rights that are in the cluster."""
    of_code = facts.known.of_code
    if of_code is None:
        return ()
    if not of_code:
        return unknown(f"the stack has no output {rights.OUTPUT}: it is older")
    found = sorted({version or "none" for version in facts.roles().values()})
    if found == [of_code]:
        return fine(f"the stack's code has {of_code}, as the rights have")
    return broken(f"the stack's code has {of_code}, the rights have {', '.join(found)}")


def policies(facts: ClusterFacts) -> Finding:
    """Whether the roles are held to what they write: manifests/policies."""
    found, actions, here = facts.policies(), facts.actions(), rights.of_command()
    ours = [each for each in manifests.policies() if each["kind"] == rights.POLICY]
    named = sorted(each["metadata"]["name"] for each in ours)
    lacking = [name for name in named if name not in found or name not in actions]
    if lacking == named:
        advice = f"{NAME} install --policies audit, then deny (docs/security.md)"
        return not_looked("none: a role may write all that RBAC lets it", advice)
    if lacking:
        return broken(f"{', '.join(lacking)} is not there, or not bound")
    if others := sorted({found[name] for name in named} - {here}):
        said = f"they have {', '.join(others)}, and this command has {here}"
        return broken(f"{said}: they may refuse what the code writes")
    if audited := [name for name in named if DENY not in actions[name]]:
        return fine(f"{', '.join(audited)}: what it would refuse is noted, and passes")
    return fine("the API server holds each role to what Evenkeel writes")


def seats(facts: ClusterFacts) -> Finding:
    """Whether handover can make seats, and no other pods."""
    if not facts.has_seat_class():
        gap = "a pod that goes before another one runs leaves a gap until that has a node"
        return broken(f"there is no PriorityClass {names.SEAT_CLASS}: no seat is made, and {gap}")
    if SEATS not in facts.policies() or SEATS not in facts.actions():
        allowed = f"handover may make any pod in {names.SYSTEM_NAMESPACE}"
        return broken(f"the policy {SEATS} is not there, or not bound: {allowed}")
    return fine("their priority is there, and handover may make no other pods")


def eviction_requests(facts: ClusterFacts) -> Finding:
    """Whether a pod of ``evenkeel serve`` answers: it does not where it only observes."""
    try:
        facts.server.read(f"/apis/{EVICTIONS}", f"get {EVICTIONS}")
    except NotFoundError:
        said = f"the API server does not serve {EVICTIONS}: the responder has nothing to answer"
        return not_looked(said)
    serving = facts.containers(f"namespaces/{names.SYSTEM_NAMESPACE}/pods", SERVE, "serve")
    started = [each.args or () for each in serving]
    answering = sum(FLAG in args and OBSERVES not in args for args in started)
    if not answering:
        said = f"{EVICTIONS} is served, and no pod of evenkeel-serve that acts has {FLAG}"
        return unknown(said)
    there = f"{words.counted(answering, 'pod')} of evenkeel-serve with {FLAG}"
    return fine(f"{EVICTIONS} is served. There to answer: {there}")


def answers(facts: ClusterFacts) -> Iterator[Finding]:
    """How often an API server went on without a webhook's answer, by its own count."""
    answer = facts.server.read("/metrics", "read /metrics", accept="text/plain")
    found = parsed(answer.body)
    return (unanswered(hook.name, found) for hook in facts.hooks())


def unanswered(webhook: str, found: Metrics) -> Finding:
    """Whether a webhook answers, of late: the counts end with the API server's process."""
    link = f"answers of {webhook.partition('.')[0]}"
    calls, lost = found.calls.get(webhook, 0), found.unanswered.get(webhook, 0)
    since = f" since {found.since:%Y-%m-%d %H:%M}Z" if found.since else ""
    of = words.counted(round(calls), "call")
    said = f"one API server got no answer to {round(lost)} of {of}{since}"
    if lost > UNANSWERED * calls:
        return broken(f"{said}, and went on", link=link)
    return fine(said, link=link)


def headroom(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether headroom that was asked for is there, and whether single replicas have any."""
    scope = Scope(capacity_labels=facts.labels)
    snapshot = read(facts.cluster, facts.clock, Terms(), scope)
    return headroom_of(present.find(facts.cluster, snapshot), sizing.of_singles(snapshot))


def headroom_of(found: Sequence[Present], singles: Need) -> Iterator[Finding]:
    """Each form of headroom by itself; without any it is advised where single replicas need it."""
    for each in found:
        yield broken(str(each), each.remedy) if each.lack else fine(str(each))
    if not found and singles.kept:
        advice = f"give them a floor, or room: {NAME} headroom --reserved (docs/headroom.md)"
        yield not_looked(f"none is seen: {wording.of_singles(singles)}", advice)
    elif not found:
        yield fine("none is seen, and no single replica needs any")


def targets(facts: ClusterFacts) -> Iterable[Finding]:
    """Whether pods that a load balancer has as targets are Ready only once it knows them."""
    number, lacking = without_gates(facts.bindings(), facts.namespaces())
    if lacking:
        more = f" and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
        named = f"{', '.join(lacking[:MOST_NAMED])}{more}"
        said = f"none in {named}, where pods are targets of a load balancer"
        yield not_looked(
            f"{said}: it knows a new one some 15 s late", f"{GATES} (docs/balancers.md)"
        )
    elif number:
        there = words.counted(number, "namespace")
        yield fine(f"pods are targets of a load balancer in {there}, and have them")


def clocks(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether the clocks here and of the reconciler go with the API server's."""
    asked = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)
    lease = ask_for_one(facts.cluster, asked)
    theirs = facts.server.read("/version", "get /version").date
    yield clock_here(facts.clock.now(), theirs)
    yield clock_of_reconciler(lease)


def clock_here(now: datetime, theirs: datetime | None) -> Finding:
    """Whether the clock here is right: drains from here go by it, and so do AWS's signatures."""
    if theirs is None:
        return unknown("the API server tells no time", "compare the clocks by hand", link=HERE)
    skew = now - theirs
    if abs(skew) <= TOLERANCE:
        return fine("within seconds of the API server's", link=HERE)
    return broken(f"it is {_apart(skew)}", "set it by NTP", link=HERE)


def clock_of_reconciler(lease: Lease | None) -> Finding:
    """Whether the reconciler's clock was right when it took the Lease last, as the Lease says."""
    noted = lease.metadata.annotations.get(names.CLOCK_AHEAD, "") if lease is not None else ""
    if not _SECONDS.fullmatch(noted):
        said = "no Lease tells of it: nothing was handed over yet"
        return not_looked(said, link=RECONCILER)
    skew = timedelta(seconds=int(noted))
    if abs(skew) <= TOLERANCE:
        said = "within seconds of the API server's when it took its Lease"
        return fine(said, link=RECONCILER)
    ntp = "set the clock of its host by NTP; on Lambda this is not expected"
    return broken(f"it was {_apart(skew)} when it took its Lease", ntp, link=RECONCILER)


def _apart(skew: timedelta) -> str:
    side = "ahead of" if skew > timedelta() else "behind"
    return f"{round(abs(skew).total_seconds())} s {side} the API server's"


REACH: Final = (
    "see that it runs, that its URL and caBundle are right and that the API server reaches it"
    " (docs/{}.md), and that it is as new as this command"
)

CHECKS: Final = (
    Check("pause", pause, f"{NAME} resume --apply"),
    Check(
        "installation",
        installation,
        f"{NAME} install --cluster-name NAME, or a chart for pods that run {NAME} poll:"
        " docs/install.md",
    ),
    Check("rights", role_rights, AGAIN, when=ClusterFacts.is_by_manifests),
    Check("version of the rights", version_of_rights, AGAIN, when=ClusterFacts.is_by_manifests),
    Check("version of the code", version_of_code, AGAIN, when=ClusterFacts.is_by_manifests),
    Check("policies", policies, AGAIN, when=ClusterFacts.is_by_manifests),
    Check("seats", seats, AGAIN, when=ClusterFacts.is_by_manifests),
    Check(
        "EvictionRequests",
        eviction_requests,
        f"add {FLAG} to its arguments (docs/gate.md), unless it runs beside the cluster",
        when=ClusterFacts.responds,
    ),
    Check("placement webhook", dry_runs.placement, REACH.format("placement")),
    Check("eviction gate", dry_runs.gate, REACH.format("gate")),
    Check("webhook certificate", certificates),
    Check(
        "answers of webhooks",
        answers,
        "see the webhook's log, duration and concurrency. The count begins anew with the API"
        " server: see whether it still grows",
        when=ClusterFacts.hooks,
    ),
    Check(
        "placement policy",
        dry_runs.placement_policy,
        "apply it again: kubectl apply -k manifests/policy. A policy that fails is passed over",
    ),
    Check(nodes.KINDS, nodes.elsewhere, when=ClusterFacts.nodes),
    Check("instances of nodes", nodes.instances, when=nodes.may_have_notices),
    Check("capacity labels", reads(ClusterFacts.nodes)),
    Check("capacity labels", nodes.capacity_labels, when=nodes.may_have_notices),
    Check("spot nodes in EC2", nodes.spot, when=nodes.may_have_notices),
    Check(LINK, other_drainers),
    Check(
        "other webhooks",
        webhooks.others,
        "see what it does with evictions (docs/compatibility.md, Other webhooks on evictions)",
    ),
    Check("headroom", headroom),
    Check("readiness gates of targets", targets, when=ClusterFacts.bindings),
    Check("clocks", clocks),
)
"""In the order in which a notice goes on."""
