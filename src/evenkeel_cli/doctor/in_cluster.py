"""The half of the chain that is in the cluster, link by link."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenkeel.errors import ClusterError, ForbiddenError, UnauthenticatedError
from evenkeel.model.capacity import CapacityLabels
from evenkeel.ports import Clock, Cluster, Instances
from evenkeel_cli.doctor import (
    certificate,
    clocks,
    drainers,
    eviction_requests,
    headroom,
    installation,
    nodes,
    pause,
    placement_policy,
    policies,
    rights,
    unasked,
    version,
    webhook,
)
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked, of_error
from evenkeel_cli.doctor.webhook import Hook
from evenkeel_cli.explain.drainers import Drainer

SERVER = "API server"


@dataclass(frozen=True, slots=True)
class Known:
    """What the other half tells: EC2, the stack's mode, and its code's version (None: no stack).

    ``drainers`` are those that EKS tells of.
    """

    instances: Instances | None = None
    observes: bool = False
    of_code: str | None = None
    drainers: Sequence[Drainer] = ()


@dataclass(frozen=True, slots=True)
class Half:
    """The cluster, as the port and for the questions that the port has no request for."""

    cluster: Cluster
    server: ApiServer
    clock: Clock
    labels: CapacityLabels


def look(half: Half, known: Known) -> Iterator[Finding]:
    """Every link of this half; the API server alone where it does not answer."""
    try:
        half.server.read("/version", "get /version")
    except (ForbiddenError, UnauthenticatedError) as error:
        yield of_error(SERVER, error)
        return
    except ClusterError as error:
        yield broken(SERVER, str(error), "see that it is up and can be reached from here")
        return
    yield fine(SERVER, "it answers")
    yield from looked(pause.LINK, pause.look, half.cluster)
    hooks = tuple(_hooks(half.server))
    placing, gating = (hook for hook, _ in hooks)
    failed = [finding for _, finding in hooks if finding is not None]
    is_gated = gating is not None
    yield from looked(installation.LINK, _installed, half, known, placing, gating)
    yield from failed
    yield from _webhooks(half, placing, gating, failed)
    beside = placing is not None
    yield from looked(
        placement_policy.LINK,
        placement_policy.look,
        half.cluster,
        half.server,
        beside_webhook=beside,
    )
    yield from _nodes(half, known, is_gated=is_gated)
    yield from looked(headroom.LINK, headroom.look, half.cluster, half.clock, half.labels)
    yield from looked("clocks", clocks.look, half.cluster, half.server, half.clock)


def _installed(
    half: Half, known: Known, placing: Hook | None, gating: Hook | None
) -> Iterator[Finding]:
    """Whether Evenkeel is there, and by the manifests: then its rights and versions count.

    Raises ClusterError.
    """
    roles = version.gather(half.server, is_gated=gating is not None)
    hooks = [hook for hook in (placing, gating) if hook is not None]
    has_roles = any(label is not None for label in roles.values())
    is_by_manifests = has_roles or known.of_code is not None
    yield installation.judge(half.cluster, half.clock, hooks, is_by_manifests=is_by_manifests)
    if is_by_manifests:
        responds = eviction_requests.may_be_answered(half.server)
        wanted = _rights(placing, gating, responds=responds)
        yield from looked("rights", rights.look, half.server, wanted)
        yield from version.look(roles, known.of_code)
        yield from looked(policies.LINK, policies.look, half.server)
        if responds:
            yield from looked(eviction_requests.LINK, eviction_requests.look, half.server)


def _hooks(server: ApiServer) -> Iterator[tuple[Hook | None, Finding | None]]:
    """Both webhooks, and of each why it cannot be read."""
    for link, gather in (
        ("placement webhook", webhook.placement_hook),
        ("eviction gate", webhook.gate_hook),
    ):
        try:
            yield gather(server), None
        except ClusterError as error:
            yield None, of_error(link, error)


def _rights(placing: Hook | None, gating: Hook | None, *, responds: bool) -> rights.Granted:
    """What is granted where it is needed: of gate, responder and webhook in the cluster if used."""
    hooks = [hook for hook in (placing, gating) if hook is not None]
    folders = ["rbac"]
    if gating is not None or responds:
        folders.append("gate")
    if responds:
        folders.append("responder")
    if any(hook.client_config.service is not None for hook in hooks):
        folders.append("serve")
    wanted = rights.granted(rights.in_manifests(*folders))
    used = "serve" in folders
    return {subject: each for subject, each in wanted.items() if used or subject.kind == "Group"}


def _webhooks(
    half: Half, placing: Hook | None, gating: Hook | None, failed: Sequence[Finding]
) -> Iterator[Finding]:
    unread = {finding.link for finding in failed}
    for link, hook, look_at in (
        ("placement webhook", placing, webhook.look_at_placement),
        ("eviction gate", gating, webhook.look_at_gate),
    ):
        if link not in unread:
            yield from looked(link, look_at, half.cluster, half.server, hook)
    hooks = [hook for hook in (placing, gating) if hook is not None]
    for place in dict.fromkeys(map(webhook.place_of, hooks)):
        yield certificate.look(place, half.clock.now())
    if hooks:
        named = [hook.name for hook in hooks]
        yield from looked("answers of webhooks", unasked.look, half.server, named)


def _nodes(half: Half, known: Known, *, is_gated: bool) -> Iterator[Finding]:
    try:
        found = nodes.gather(half.cluster)
    except ClusterError as error:
        yield of_error(nodes.LABELS, error)
        yield of_error(drainers.LINK, error)
        return
    yield from nodes.look(found, half.labels, known.instances)
    yield from looked(
        drainers.LINK,
        drainers.look,
        half.cluster,
        half.server,
        found,
        is_gated=is_gated,
        observes=known.observes,
        known=known.drainers,
    )
