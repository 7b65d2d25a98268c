"""Requests that fail.

16 Deployments, of one and of three replicas, whose pods are all on one node, which is emptied
while another has room. There is a real control plane; the bench plays the kubelets, and gives each
pod an address and a server of its own, which is Ready after 3 s. To each app go 25 requests a
second for 60 s, from each of what leads to it: 1,500 each, of 50 ms, on a connection of its own.
*proxy* follows the EndpointSlices of a plain Service 0.5 s late. *ALB* sends requests to a pod
15 s after it is Ready, until it is not; *slow ALB* for 3 s more. The apps differ in what they do
when they are to end: one *exits* at SIGTERM, with what is under way, one *closes* its listener and
finishes that, one *serves* on for 5 s, and *prestop* exits after a preStop of 15 s.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import msgspec

from bench.figure import NONE, Figure, Mark
from bench.lab import webhook, worker
from bench.lab.lab import Lab
from bench.lab.manifests import NAMESPACE
from bench.lab.traffic.kubelets import CLOSES, EXITS
from bench.lab.traffic.load import CAUSES, Stream
from bench.lab.traffic.site import APPS, Site, launched
from evenkeel.model import names
from tests.kit import moto_server
from tests.kit.control_plane import ControlPlane
from tests.kit.moto_server import Aws

NOTES: Final = """\
- A figure is how many of 1,500 requests failed, of each balancer; the causes are those of all
  three. *refused*: nobody listened. *reset*: the connection ended without an answer. *no target*:
  the balancer had nobody to send it to.
- *drain* is `kubectl drain`, *gated* the same behind the eviction gate, *interruption* a spot
  interruption warning for `evenkeel poll`, *rollout* `kubectl rollout restart` of all apps, the
  yardstick. With `-unsettled` the pods are annotated `evenkeel.dev/settle: 0s`. With `-asleep`
  their namespace is, before they are made, `evenkeel.dev/pre-stop-sleep: 5s`, which the admission
  policy carries out.
- Nobody but the apps themselves can keep those that exit or close from losing requests, unless
  they are asleep: so only the others have a mark.
- The balancers are models of when they know what. An ALB without a healthy target answers 503
  here; AWS may send requests to those that are not healthy yet.
"""
DRAINING: Final = 300
PUNCTUAL: Final = Mark(most=500)
"""Milliseconds. A load that comes later than this says little."""

ASLEEP: Final = "5s"
UNSETTLED: Final[Mapping[str, str]] = {names.SETTLE: "0s"}


@dataclass(frozen=True, slots=True)
class Ground:
    """What a driver acts on."""

    control_plane: ControlPlane
    aws: Aws
    instance_id: str
    node: str

    async def drain(self) -> None:
        """`kubectl drain`."""
        options = ("--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={DRAINING}s")
        await self._kubectl("drain", self.node, *options)

    async def restart(self) -> None:
        """`kubectl rollout restart`."""
        await self._kubectl("rollout", "restart", "deployment", "--namespace", NAMESPACE)

    async def warn(self) -> None:
        """A warning that the node's instance will be interrupted."""
        now = datetime.now(UTC)  # noqa: TID251 - EC2's own clock
        await asyncio.to_thread(self.aws.send, [moto_server.warning(self.instance_id, now)])

    async def _kubectl(self, *arguments: str) -> None:
        kubectl = self.control_plane.kubectl
        await asyncio.to_thread(kubectl, *arguments, seconds=DRAINING + 30)


@dataclass(frozen=True, slots=True)
class Way:
    """How the node is emptied.

    ``ours``: by the product. No request may fail then, unless the pods have ``notes`` that say so,
    or stop to listen while some are sent to them. ``asleep``: none does that, for they sleep before
    their SIGTERM.
    """

    drive: Callable[[Ground], Awaitable[None]]
    ours: bool = False
    gated: bool = False
    asleep: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    def mark(self, kind: str) -> Mark | None:
        """How many requests to an app of a kind may fail; None if that says nothing."""
        may_lose_none = self.asleep or kind not in (EXITS, CLOSES)
        return NONE if self.ours and may_lose_none and not self.notes else None


WAYS: Final[Mapping[str, Way]] = {
    "drain": Way(Ground.drain),
    "rollout": Way(Ground.restart),
    "interruption": Way(Ground.warn, ours=True),
    "gated": Way(Ground.drain, ours=True, gated=True),
    "rollout-asleep": Way(Ground.restart, asleep=True),
    "interruption-asleep": Way(Ground.warn, ours=True, asleep=True),
    "gated-asleep": Way(Ground.drain, ours=True, gated=True, asleep=True),
    "interruption-unsettled": Way(Ground.warn, ours=True, notes=UNSETTLED),
    "gated-unsettled": Way(Ground.drain, ours=True, gated=True, notes=UNSETTLED),
}
SIZES: Final = tuple(WAYS)


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One round on a cluster of its own."""
    with launched() as control_plane, moto_server.started() as aws, ExitStack() as stack:
        return asyncio.run(_measured(lab, WAYS[size], control_plane, aws, stack))


async def _measured(
    lab: Lab, way: Way, control_plane: ControlPlane, aws: Aws, stack: ExitStack
) -> Sequence[Figure]:
    ((instance_id, node),) = aws.nodes(1).items()
    provider_id = f"aws:///eu-central-1a/{instance_id}"
    control_plane.add_node(node, spot=True, cpu="64", provider_id=provider_id)
    ground, site = Ground(control_plane, aws, instance_id, node), Site(control_plane, node)
    with site.followed():
        if way.asleep:
            asleep = webhook.placing(control_plane, NAMESPACE, {names.PRE_STOP_SLEEP: ASLEEP})
            await asyncio.to_thread(stack.enter_context, asleep)
        await site.fill(way.notes)
        lab.say("all apps are Ready, and known")
        if way.ours:
            log = lab.log("poll")
            running = worker.started(aws, control_plane.kubeconfig, log)
            await asyncio.to_thread(stack.enter_context, running)
        if way.gated:
            gating = webhook.gating(control_plane, NAMESPACE)
            await asyncio.to_thread(stack.enter_context, gating)
        await asyncio.to_thread(control_plane.add_node, "new", cpu="64")
        streams = await site.load(lambda: way.drive(ground))
    found = [each for stream in streams for each in stream.failures]
    lines = b"".join(msgspec.json.encode(each) + b"\n" for each in found)
    lab.log("failures").write_bytes(lines)
    return [*_figures(streams, way), Figure("node empty", site.emptied, "s", shown=False)]


def _figures(streams: Sequence[Stream], way: Way) -> Sequence[Figure]:
    """Each app's failed requests, of each balancer and by their causes."""
    made = []
    for kind, replicas in dict.fromkeys((app.kind, app.replicas) for app in APPS):
        of = f"{kind}, {replicas}"
        apps = {app.name for app in APPS if (app.kind, app.replicas) == (kind, replicas)}
        own = [stream for stream in streams if stream.app in apps]
        mark = way.mark(kind)
        made += [Figure(each.balancer, len(each.failures), mark=mark, of=of) for each in own]
        causes = Counter(failure.cause for stream in own for failure in stream.failures)
        made += [Figure(cause, causes[cause], of=of) for cause in CAUSES]
        made.append(Figure("requests", sum(each.sent for each in own), of=of, shown=False))
        late = max(stream.latest for stream in own) * 1000
        made.append(Figure("sent late, worst", late, "ms", mark=PUNCTUAL, of=of))
    return made
