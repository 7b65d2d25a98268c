"""Which steps an installation and a removal have, and in which order."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from evenkeel.model.capacity import CapacityLabels
from evenkeel.settings import Mode
from evenkeel_cli import manifests
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.capacity import labels_in
from evenkeel_cli.install import concurrency, hooks, placement_policy, rights, scheduler, serving
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.headroom import NoHeadroom
from evenkeel_cli.install.hooks import Asked
from evenkeel_cli.install.namespaces import Labelled, Unlabelled
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.install.placement_policy import Policed
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.install.presence import Absent, Present
from evenkeel_cli.install.roles import Mapped, Unmapped
from evenkeel_cli.install.scheduler import Unnamed
from evenkeel_cli.install.serving import Served
from evenkeel_cli.install.settling import NEVER_MADE
from evenkeel_cli.install.site import Site
from evenkeel_cli.install.stacks import Deleted, Deployed, Swept, WithoutOldToken
from evenkeel_cli.install.steps import Step
from evenkeel_cli.install.tokens import Usable
from evenkeel_cli.install.traces import Forgotten, Lifted, Quiet, Unwritten

SETTINGS: Final = {
    "CapacityLabels": "EVENKEEL_CAPACITY_LABELS",
    "DefaultFloors": "EVENKEEL_DEFAULT_FLOORS",
    "Gate": "EVENKEEL_GATE",
    "GatePatienceSeconds": "EVENKEEL_GATE_PATIENCE_SECONDS",
    "Namespaces": "EVENKEEL_NAMESPACES",
    "Window": "EVENKEEL_WINDOW",
}
"""Parameters of the stack that the webhook in the cluster has as environment variables."""


def installation(site: Site, choices: Choices, build: Build) -> Sequence[Step]:
    """Rights first, for new code may need more; then whatever answers, before it is asked.

    Raises BadInputError where the template lacks a parameter.
    """
    objects = site.objects
    gate = choices.webhook.answers
    stack: list[Step] = [deployed(site, choices, build)]
    if not site.described.takes_access_entries:
        stack.append(Mapped(site))
    no_serve, no_policy = not_served(objects), placement_policy.absent(objects)
    rights_left = Absent("gate", objects, manifests.documents("gate"))
    asked = partial(Asked, objects, everywhere=choices.is_everywhere)
    rest: list[Step]
    match choices.webhook:
        case Webhook.LAMBDA:
            by_stack = asked(partial(hooks.of_stack, site))
            rest = [
                *stack,
                Usable(site),
                by_stack,
                *_needed(WithoutOldToken(site, build), no_policy, no_serve),
            ]
        case Webhook.IN_CLUSTER:
            by_service = asked(partial(hooks.of_service, objects))
            rest = [served(site, choices), by_service, *_needed(no_policy), *stack]
        case Webhook.POLICY:
            not_any_more = _needed(not_asked(objects))
            rest = [policed(site, choices), *not_any_more, *stack, *_needed(no_serve, rights_left)]
        case Webhook.NONE:
            no_more = _needed(not_asked(objects), no_policy)
            rest = [*no_more, *stack, *_needed(no_serve, rights_left)]
    labelled = Labelled(objects, choices.namespaces)
    granted = rights.wanted(gate=gate, policies=choices.policies)
    first: list[Step] = [Present("rights", objects, granted)]
    if choices.policies is Policies.NONE:
        first += _needed(Absent("policies", objects, Policies.DENY.documents))
    return [*first, *rest, labelled]


def deployed(site: Site, choices: Choices, build: Build) -> Deployed:
    """The stack's step. Raises BadInputError where the template lacks a parameter."""
    return Deployed(site, build, parameters(site, choices))


def removal(site: Site, patience: timedelta) -> Sequence[Step]:
    """What is asked goes before what answers, and whoever writes before what was written."""
    objects = site.objects
    return [
        Unwritten(objects),
        Unnamed(objects),
        not_asked(objects),
        placement_policy.absent(objects),
        Quiet(site, patience),
        not_scheduled(objects),
        not_served(objects),
        Absent("monitoring", objects, manifests.documents("monitoring")),
        Absent("poll", objects, manifests.documents("poll")),
        Absent("viewer", objects, manifests.documents("viewer")),
        Absent("responder", objects, manifests.documents("responder")),
        NoHeadroom(objects),
        Deleted(site),
        Swept(site),
        Unmapped(site),
        Lifted(site),
        Forgotten(objects),
        Unlabelled(objects),
        Absent("rights", objects, rights.wanted(gate=True, policies=Policies.DENY)),
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
        **concurrency.parameters(site.aws, None if is_new else stack, site.say),
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


def capacity_labels(stack: Stack | None, choices: Choices) -> CapacityLabels:
    """The node labels that tell what is spot, as the stack has them. Raises BadInputError."""
    have = {**(stack.parameters if stack is not None else {}), **choices.parameters}
    return labels_in({SETTINGS[key]: value for key, value in have.items() if key in SETTINGS})


def policed(site: Site, choices: Choices) -> Policed:
    """The admission policy, by the labels that the stack has. Raises BadInputError."""
    labels = capacity_labels(site.stack(), choices)
    everywhere = choices.is_everywhere
    return Policed(site.objects, labels, mode=choices.mode, everywhere=everywhere)


def served(site: Site, choices: Choices) -> Served:
    """``evenkeel serve``, with the settings that the stack has."""
    stack = site.stack()
    have = {**(stack.parameters if stack is not None else {}), **choices.parameters}
    settings = {"EVENKEEL_CLUSTER_NAME": site.place.cluster}
    settings |= {SETTINGS[key]: value for key, value in have.items() if key in SETTINGS}
    act = choices.mode is Mode.ACT
    return Served(site.objects, site.clock, choices.image, settings, act=act)
