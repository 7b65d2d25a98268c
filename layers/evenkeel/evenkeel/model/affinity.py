"""What a pod asks of its node, and with which group. Go may write null for what is not there."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, LabelSelector

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
"""What a topology spread says that no pod is placed against; any other is a preference."""


class NodeRequirement(ApiStruct, frozen=True, kw_only=True):
    """One clause about a node's labels: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None

    def only(self, key: str) -> str:
        """The only value of this key that it allows; empty if there may be others."""
        is_single = self.key == key and self.operator == "In" and len(self.values or ()) == 1
        return (self.values or ("",))[0] if is_single else ""


class NodeSelectorTerm(ApiStruct, frozen=True, kw_only=True):
    """Clauses that have to hold together. A term without any matches no node."""

    match_expressions: tuple[NodeRequirement, ...] | None = None
    match_fields: tuple[NodeRequirement, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it matches nothing."""
        return not self.match_expressions and not self.match_fields

    @property
    def field_node(self) -> str:
        """The name of the only node that its fields allow, as a DaemonSet's pods have it."""
        return _first(each.only("metadata.name") for each in self.match_fields or ())

    @property
    def only_node(self) -> str:
        """The name of the only node that it allows, or its hostname; empty without one."""
        label = _first(each.only(names.HOSTNAME) for each in self.match_expressions or ())
        return self.field_node or label


class NodeSelector(ApiStruct, frozen=True, kw_only=True):
    """Terms of which one has to hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredTerm(ApiStruct, frozen=True, kw_only=True):
    """A term that is worth ``weight`` points, 1 to 100."""

    weight: int
    preference: NodeSelectorTerm


class NodeAffinity(ApiStruct, frozen=True, kw_only=True):
    """Which nodes a pod needs, and which it would like."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredTerm, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class NewAffinity(ApiStruct, frozen=True, kw_only=True):
    """The affinity of a pod, of which only the nodes' part matters here."""

    node_affinity: NodeAffinity | None = None

    @property
    def required(self) -> NodeSelector | None:
        """Which nodes will do; None: any."""
        return self.node_affinity.required if self.node_affinity is not None else None

    @property
    def required_terms(self) -> tuple[NodeSelectorTerm, ...]:
        """The terms of which one has to hold; none: any node will do."""
        return (self.required and self.required.node_selector_terms) or ()


class PodTerm(ApiStruct, frozen=True, kw_only=True):
    """Pods with which a pod may not share a node, or what has the same value of another label."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None


class PodAntiAffinity(ApiStruct, frozen=True, kw_only=True):
    """Beside which pods a pod does not run."""

    required: tuple[PodTerm, ...] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(NewAffinity, frozen=True, kw_only=True):
    """The affinity of a pod that is there."""

    pod_anti_affinity: PodAntiAffinity | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it keeps pods apart by more than a node, such as by zone."""
        terms = (self.pod_anti_affinity and self.pod_anti_affinity.required) or ()
        return any(each.topology_key != names.HOSTNAME for each in terms)


class Toleration(ApiStruct, frozen=True, kw_only=True):
    """Which taint a pod tolerates; without an effect any, without a key every one."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class TopologySpread(ApiStruct, frozen=True, kw_only=True):
    """How far the pods of a selector may be from even over the values of a node label."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class SchedulingGroup(ApiStruct, frozen=True, kw_only=True):
    """The group that a pod is scheduled with."""

    pod_group_name: str | None = None


class NewPodSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a new pod's spec that placement reads."""

    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: NewAffinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpread, ...] | None = None
    scheduling_group: SchedulingGroup | None = None
    scheduler_name: str = ""

    @property
    def node_affinity(self) -> NodeAffinity:
        """Its node affinity; an empty one without."""
        return (self.affinity and self.affinity.node_affinity) or NodeAffinity()


def only_node(selector: Mapping[str, str] | None, affinity: NewAffinity | None) -> str:
    """The node that a pod with these rules is bound to, by name or hostname; empty if to none."""
    terms = affinity.required_terms if affinity is not None else ()
    named = {term.only_node for term in terms}
    return (selector or {}).get(names.HOSTNAME, "") or (named.pop() if len(named) == 1 else "")


def _first(found: Iterable[str]) -> str:
    return next(filter(None, found), "")


class TemplateMetadata(ApiStruct, frozen=True, kw_only=True):
    """Metadata of a pod template; it has no name."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PodTemplate(ApiStruct, frozen=True, kw_only=True):
    """The pods that a workload makes, and where they may go by their owner's own rules."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: NewPodSpec = NewPodSpec()
