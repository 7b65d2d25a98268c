"""Which steps an installation and a removal have, and in which order."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from cli import manifests
from cli.install import concurrency, hooks, rights, scheduler, serving
from cli.install.absence import Absent
from cli.install.choices import Choices, Webhook
from cli.install.hooks import Asked
from cli.install.namespaces import Labelled, Unlabelled
from cli.install.objects import Objects
from cli.install.rights import Rights
from cli.install.roles import Mapped, Unmapped
from cli.install.scheduler import Unnamed
from cli.install.serving import Served
from cli.install.site import Site
from cli.install.stacks import NEVER_MADE, Deleted, Deployed, WithoutOldToken
from cli.install.steps import Step
from cli.install.tokens import Usable
from cli.install.traces import Forgotten, Lifted, Quiet, Unwritten
from evenkeel.settings import Mode

SETTINGS: Final = {
    "CapacityLabels": "EVENKEEL_CAPACITY_LABELS",
    "Gate": "EVENKEEL_GATE",
    "GatePatienceSeconds": "EVENKEEL_GATE_PATIENCE_SECONDS",
    "Namespaces": "EVENKEEL_NAMESPACES",
    "Window": "EVENKEEL_WINDOW",
}
"""Parameters of the stack that the webhook in the cluster has as environment variables."""


def installation(site: Site, choices: Choices) -> Sequence[Step]:
    """Rights first, for new code may need more; then whatever answers, before it is asked."""
    objects = site.objects
    gate = choices.webhook is not Webhook.NONE
    stack: list[Step] = [Deployed(site, parameters(site, choices))]
    if not site.described.takes_access_entries:
        stack.append(Mapped(site))
    no_serve = not_served(objects)
    asked = partial(Asked, objects, everywhere=choices.is_everywhere)
    rest: list[Step]
    match choices.webhook:
        case Webhook.LAMBDA:
            by_stack = asked(partial(hooks.of_stack, site))
            rest = [*stack, Usable(site), by_stack, *_needed(WithoutOldToken(site), no_serve)]
        case Webhook.IN_CLUSTER:
            rest = [served(site, choices), asked(partial(hooks.of_service, objects)), *stack]
        case Webhook.NONE:
            rights_left = Absent("gate", objects, manifests.rights_of_the_gate())
            rest = [*_needed(not_asked(objects)), *stack, *_needed(no_serve, rights_left)]
    labelled = Labelled(objects, choices.namespaces)
    return [Rights(objects, gate=gate), *rest, labelled]


def removal(site: Site, patience: timedelta) -> Sequence[Step]:
    """What is asked goes before what answers, and whoever writes before what was written."""
    objects = site.objects
    return [
        Unwritten(objects),
        Unnamed(objects),
        not_asked(objects),
        Quiet(site, patience),
        not_scheduled(objects),
        not_served(objects),
        Absent("monitoring", objects, manifests.documents("monitoring")),
        Absent("poll", objects, manifests.documents("poll")),
        Deleted(site),
        Unmapped(site),
        Lifted(site),
        Forgotten(objects),
        Unlabelled(objects),
        Absent("rights", objects, rights.wanted(gate=True)),
    ]


def parameters(site: Site, choices: Choices) -> Mapping[str, str]:
    """The parameters of the stack that the choices come to."""
    described, stack = site.described, site.stack()
    is_new = stack is None or stack.status in NEVER_MADE
    return {
        "ClusterName": site.place.cluster,
        "ClusterEndpoint": described.endpoint,
        "ClusterCertificateAuthority": described.certificate_authority.data,
        "AccessEntries": str(described.takes_access_entries).lower(),
        "Mode": choices.mode,
        "Webhook": str(choices.webhook is Webhook.LAMBDA).lower(),
        **(concurrency.parameters(site.aws) if is_new else {}),
        **choices.parameters,
    }


def _needed(*steps: Step) -> Sequence[Step]:
    """Those of these that take something away, if it is there."""
    return [step for step in steps if step.look()]


def not_asked(objects: Objects) -> Absent:
    """The API server asks nobody.

    Goes before what answers is taken away: each pod and eviction would wait for that.
    """
    return Absent("webhooks", objects, [hooks.PLACEMENT, hooks.GATE])


def not_served(objects: Objects) -> Absent:
    """Nothing of ``evenkeel serve`` is in the cluster."""
    documents = manifests.documents("serve")
    return Absent("serve", objects, [*documents, serving.TOKEN, serving.CERTIFICATE])


def not_scheduled(objects: Objects) -> Absent:
    """The second scheduler is gone. Goes before its extender, which is in ``evenkeel serve``."""
    return Absent(Unnamed.title, objects, scheduler.documents())


def served(site: Site, choices: Choices) -> Served:
    """``evenkeel serve``, with the settings that the stack has."""
    stack = site.stack()
    have = {**(stack.parameters if stack is not None else {}), **choices.parameters}
    settings = {"EVENKEEL_CLUSTER_NAME": site.place.cluster}
    settings |= {SETTINGS[key]: value for key, value in have.items() if key in SETTINGS}
    act = choices.mode is Mode.ACT
    return Served(site.objects, site.clock, choices.image, settings, act=act)
