"""What the spreads of a workload's pods lack, to stay as even as their owner wants them.

The scheduler counts a released pod in its zone, because it keeps the labels that its owner counts
by. So its replacement goes to another zone: 3/3/3 ends as 1/4/4. A released pod's template hash has
changed, so a spread that goes by the hash does not count it. By the hash alone the replacements of
a zone all of whose nodes are drained would find no place: the nodes count as a zone without pods.
They do not if their taints are honored.

A spread that wants ``minDomains`` is left. While fewer domains count, each takes ``maxSkew`` pods
at most: a drained one would not count where taints are honored, and be empty by the hash alone.

The scheduler counts a spread over those nodes alone that the pod may go to, and a pod of a floor
may go to on-demand alone. A soft spread of such a pod is to count over nodes of either type.
https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evenkeel.model import names
from evenkeel.model.affinity import DO_NOT_SCHEDULE, TopologySpread
from evenkeel.model.meta import LabelSelector
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Operation, pointer

HONOR: Final = "Honor"
IGNORE: Final = "Ignore"

_SPREADS: Final = ("spec", "topologySpreadConstraints")


def lacks(spread: TopologySpread, workload: LabelSelector) -> Mapping[str, str | Sequence[str]]:
    """The fields that a spread lacks, and what they are to be. ``workload`` selects its pods.

    - One that is soft, or that counts no pod because it has no selector, lacks nothing, nor does
      one that wants several domains.
    - ``nodeTaintsPolicy`` is Honor, unless its owner says otherwise.
    - ``matchLabelKeys`` gets the template hash, unless its owner goes by that already or counts
      pods of other workloads as well.
    """
    selector = spread.label_selector
    if spread.when_unsatisfiable != DO_NOT_SCHEDULE or selector is None or wants_domains(spread):
        return {}
    found: dict[str, str | Sequence[str]] = {}
    if spread.node_taints_policy is None:
        found["nodeTaintsPolicy"] = HONOR
    if not _goes_by_hash(spread, selector) and _includes(selector, workload):
        found["matchLabelKeys"] = [*(spread.match_label_keys or ()), names.TEMPLATE_HASH]
    return found


def wants_domains(spread: TopologySpread) -> bool:
    """Whether a spread holds pods back while there are fewer than several domains."""
    return spread.min_domains not in (None, 1)


def is_upset(spread: TopologySpread, workload: LabelSelector) -> bool:
    """Whether a drain leaves it uneven, and something can be done about that."""
    selector = spread.label_selector
    return (
        selector is not None
        and spread.node_taints_policy != HONOR
        and not _goes_by_hash(spread, selector)
        and bool(lacks(spread, workload))
    )


def spread_operations(pod: NewPod, workload: LabelSelector) -> Iterator[Operation]:
    """Add what the spreads of a new pod lack. A pod without a template hash cannot be released."""
    if names.TEMPLATE_HASH not in (pod.metadata.labels or {}):
        return
    for index, spread in enumerate(pod.spec.topology_spread_constraints or ()):
        for field, value in lacks(spread, workload).items():
            yield Operation("add", pointer(*_SPREADS, index, field), value)


def soft_operations(pod: NewPod) -> Iterator[Operation]:
    """Have the soft spreads of a pod that may go to one capacity type alone count both.

    - A hard one is left: where a domain has no node of that type the pod would wait.
    - So is one of which its owner says which nodes count, or whose pod his own rules keep off some
      nodes: these would count, too.
    """
    spec = pod.spec
    if spec.node_selector or spec.node_affinity.required is not None:
        return
    for index, spread in enumerate(spec.topology_spread_constraints or ()):
        if spread.when_unsatisfiable != DO_NOT_SCHEDULE and spread.node_affinity_policy is None:
            yield Operation("add", pointer(*_SPREADS, index, "nodeAffinityPolicy"), IGNORE)


def _goes_by_hash(spread: TopologySpread, selector: LabelSelector) -> bool:
    """Whether its owner has it count pods by their template hash."""
    return names.TEMPLATE_HASH in (spread.match_label_keys or ()) or selector.mentions(
        names.TEMPLATE_HASH
    )


def _includes(selector: LabelSelector, other: LabelSelector) -> bool:
    """Whether it asks for all that another one asks for, so that it selects none but its pods."""
    return other.match_labels.items() <= selector.match_labels.items() and set(
        other.match_expressions
    ) <= set(selector.match_expressions)
