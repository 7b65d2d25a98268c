"""What the checks in the cluster go by: webhooks, roles, policies, nodes, Leases, instances."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

import msgspec

from evenkeel.errors import InstancesError, NotFoundError, UnreadableObjectError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.balancers import TargetGroupBinding
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.instance import Instance
from evenkeel.model.meta import ApiStruct, LabelSelector
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Clock, Cluster, Instances
from evenkeel_cli import pausing
from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.doctor import rights
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.check import Facts, if_told, once
from evenkeel_cli.doctor.rights import Right, Subject
from evenkeel_cli.explain.drainers import Drainer
from evenkeel_cli.pausing import Pause
from evenkeel_runtime.serve.certificate import SERIES

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
SEAT_CLASS: Final = f"/apis/scheduling.k8s.io/v1/priorityclasses/{names.SEAT_CLASS}"
OURS: Final = "app.kubernetes.io/name=evenkeel"
GATE: Final = "evenkeel-gate"
RESPONDER: Final = "evenkeel-responder"

HOOKS: Final = {
    "placement": "mutatingwebhookconfigurations/evenkeel",
    "gate": "validatingwebhookconfigurations/evenkeel-gate",
}
"""The configuration of each webhook."""

FIRST_GATE: Final = "mutatingwebhookconfigurations/evenkeel-gate"
"""The gate's where it is asked before mutating webhooks of others (docs/compatibility.md)."""


class ServiceReference(ApiStruct, frozen=True, kw_only=True):
    """The Service that the API server calls."""

    namespace: str
    name: str
    port: int = 443


class ClientConfig(ApiStruct, frozen=True, kw_only=True):
    """Where the API server calls a webhook, and whose certificates it trusts there."""

    url: str = ""
    service: ServiceReference | None = None
    ca_bundle: str = ""


class Rule(ApiStruct, frozen=True, kw_only=True):
    """What a webhook is asked about."""

    api_groups: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()

    def covers(self, operation: str, *resources: str) -> bool:
        """Whether it is an operation on one of these spellings of a resource of the core API."""
        return (
            not {"", "*"}.isdisjoint(self.api_groups)
            and not {operation, "*"}.isdisjoint(self.operations)
            and not {*resources, "*/*"}.isdisjoint(self.resources)
        )


class Hook(ApiStruct, frozen=True, kw_only=True):
    """One webhook of a configuration."""

    name: str
    client_config: ClientConfig
    namespace_selector: LabelSelector = LabelSelector()
    rules: tuple[Rule, ...] | None = ()


class Labelled(msgspec.Struct, frozen=True):
    """The name and the labels of an object."""

    name: str = ""
    labels: dict[str, str] = {}


class Configuration(ApiStruct, frozen=True, kw_only=True):
    """A webhook configuration, mutating or validating; ours has one webhook."""

    metadata: Labelled = Labelled()
    webhooks: tuple[Hook, ...] | None = ()

    def asks(self, operation: str, *resources: str) -> bool:
        """Whether one of its webhooks is asked about this (see ``Rule.covers``)."""
        rules = (rule for hook in self.webhooks or () for rule in hook.rules or ())
        return any(rule.covers(operation, *resources) for rule in rules)


class Configurations(ApiStruct, frozen=True, kw_only=True):
    """A list of these."""

    items: tuple[Configuration, ...] = ()


class PolicySpec(msgspec.Struct, frozen=True, rename="camel"):
    """Of a binding: the policy, and what becomes of a request that it refuses."""

    policy_name: str = ""
    validation_actions: tuple[str, ...] = ()


class Object(msgspec.Struct, frozen=True):
    """A role, a policy or a binding."""

    metadata: Labelled
    spec: PolicySpec = PolicySpec()


class Objects(msgspec.Struct, frozen=True):
    """A list of these."""

    items: tuple[Object, ...] = ()


class Variable(msgspec.Struct, frozen=True):
    """One environment variable of a container."""

    name: str
    value: str = ""


class Container(msgspec.Struct, frozen=True):
    """How a container is started."""

    args: tuple[str, ...] | None = ()
    command: tuple[str, ...] | None = ()
    env: tuple[Variable, ...] | None = ()


class PodSpec(msgspec.Struct, frozen=True):
    """The containers of a pod."""

    containers: tuple[Container, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """A pod, as far as it tells what it was started with."""

    spec: PodSpec = PodSpec()


class Pods(msgspec.Struct, frozen=True):
    """A list of pods."""

    items: tuple[Pod, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What the other half tells: EC2, the stack's mode, and its code's version (None: no stack).

    ``drainers`` are those that EKS tells of.
    """

    instances: Instances | None = None
    observes: bool = False
    of_code: str | None = None
    drainers: Sequence[Drainer] = ()


@dataclass(eq=False)
class ClusterFacts(Facts):
    """What the cluster tells. Its methods raise ClusterError.

    ``server`` is asked what the port has no request for.
    """

    cluster: Cluster
    server: ApiServer
    clock: Clock
    labels: CapacityLabels = WELL_KNOWN
    known: Known = Known()

    @once
    def pause(self) -> Pause | None:
        """The pause, if it is in force."""
        return pausing.find(self.cluster)

    @once
    def hook(self, which: str) -> Hook | None:
        """One of the webhooks; None if there is none."""
        for name in (HOOKS[which], *[FIRST_GATE] * (which == "gate")):
            with suppress(NotFoundError):
                found = self.server.read_as(Configuration, f"{ADMISSION}/{name}", f"get {name}")
                return next(iter(found.webhooks or ()), None)
        return None

    @once
    def served_until(self, service: ServiceReference) -> datetime:
        """Until when the certificate holds that a process behind a Service serves."""
        services = f"/api/v1/namespaces/{service.namespace}/services"
        path, what = f"{service.name}:metrics/proxy/metrics", f"read metrics of {service.name}"
        answer = self.server.read(f"{services}/{path}", what, accept="text/plain")
        ends = re.search(rf"^{SERIES}\{{.*\}} (\S+)$", answer.body.decode(), re.MULTILINE)
        if ends is None:
            raise UnreadableObjectError(f"{service.name} does not tell when its certificate ends")
        return datetime.fromtimestamp(float(ends[1]), UTC)

    def hooks(self) -> Sequence[Hook]:
        """Both, as far as they are there and can be read."""
        return [hook for each in HOOKS if (hook := if_told(self.hook, each)) is not None]

    @once
    def configurations(self, kind: str) -> Sequence[Configuration]:
        """The webhook configurations of a kind that are not Evenkeel's."""
        plural = f"{kind.lower()}s"
        found = self.server.read_as(Configurations, f"{ADMISSION}/{plural}", f"list {plural}")
        ours = {*HOOKS.values(), FIRST_GATE}
        return [each for each in found.items if f"{plural}/{each.metadata.name}" not in ours]

    def is_gated(self) -> bool:
        """Whether evictions wait at the gate."""
        return if_told(self.hook, "gate") is not None

    @once
    def role(self, name: str) -> str | None:
        """The version of a ClusterRole, empty if it has none; None: there is no such role."""
        try:
            role = self.server.read_as(Object, f"{ROLES}/{name}", f"get clusterrole {name}")
        except NotFoundError:
            return None
        return role.metadata.labels.get(rights.LABEL, "")

    def roles(self) -> Mapping[str, str | None]:
        """The versions of the roles in the cluster; None of one that is not there."""
        return {name: self.role(name) for name in (*rights.ROLES, *[GATE] * self.is_gated())}

    def is_by_manifests(self) -> bool:
        """Whether Evenkeel is there by the manifests or a stack: then its rights count."""
        has_roles = any(version is not None for version in self.roles().values())
        return has_roles or self.known.of_code is not None

    def responds(self) -> bool:
        """Whether the rights to answer EvictionRequests are there."""
        return self.is_by_manifests() and self.role(RESPONDER) is not None

    @once
    def granted(self) -> Mapping[Subject, Sequence[Right]]:
        """What the manifests grant: of gate, responder and webhook in the cluster if used."""
        responds, is_gated = self.responds(), self.is_gated()
        serves = any(hook.client_config.service is not None for hook in self.hooks())
        used = {"gate": is_gated or responds, "responder": responds, "serve": serves}
        folders = ["rbac", *(folder for folder in used if used[folder])]
        wanted = rights.granted(rights.in_manifests(*folders))
        return {who: each for who, each in wanted.items() if serves or who.kind == "Group"}

    @once
    def refused(self) -> Mapping[Subject, Sequence[Right]]:
        """What of this the API server forbids."""
        return rights.refused(self.server, self.granted())

    def containers(self, path: str, labels: str, of: str) -> Sequence[Container]:
        """The containers of pods with these labels; ``of`` names the pods in errors."""
        target = f"/api/v1/{path}?labelSelector={quote(labels)}"
        found = self.server.read_as(Pods, target, f"list pods of {of}").items or ()
        return [each for pod in found for each in pod.spec.containers]

    @once
    def has_seat_class(self) -> bool:
        """Whether the priority of seats is there: without it the API server refuses each."""
        try:
            self.server.read(SEAT_CLASS, f"get priorityclass {names.SEAT_CLASS}")
        except NotFoundError:
            return False
        return True

    @once
    def policies(self) -> Mapping[str, str]:
        """The versions of the policies that hold the roles, by name."""
        found = self._ours("validatingadmissionpolicies")
        return {each.metadata.name: each.metadata.labels.get(rights.LABEL, "") for each in found}

    @once
    def actions(self) -> Mapping[str, Sequence[str]]:
        """What becomes of a request that a policy refuses, by the names of those that are bound."""
        found = self._ours("validatingadmissionpolicybindings")
        return {each.spec.policy_name: each.spec.validation_actions for each in found}

    @once
    def namespaces(self) -> Sequence[Namespace]:
        """Those that webhooks may be for, in the order of their names."""
        found = ask(self.cluster, List(Selection(Namespace), fresh=False)).items
        ours = [each for each in found if each.name not in names.CLUSTERS_OWN and not each.leaving]
        return sorted(ours, key=lambda each: each.name)

    @once
    def bindings(self) -> Sequence[TargetGroupBinding]:
        """What registers pods, or nodes, with load balancers of AWS; a cluster may have none."""
        try:
            return ask(self.cluster, List(Selection(TargetGroupBinding), fresh=False)).items
        except NotFoundError:
            return ()

    @once
    def nodes(self) -> Sequence[Node]:
        """All nodes."""
        return ask(self.cluster, List(Selection(Node), fresh=False)).items

    @once
    def instances(self) -> Mapping[str, Instance] | None:
        """EC2's instances of the nodes, by their ids; None: EC2 is not asked. Raises AwsError."""
        if self.known.instances is None:
            return None
        ids = [node.instance_id for node in self.nodes() if node.instance_id]
        try:
            return self.known.instances.describe(ids)
        except InstancesError as error:
            raise AwsError(str(error)) from error

    def _ours(self, plural: str) -> Sequence[Object]:
        target = f"{ADMISSION}/{plural}?labelSelector={quote(OURS)}"
        return self.server.read_as(Objects, target, f"list {plural}").items
