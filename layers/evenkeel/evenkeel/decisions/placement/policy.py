"""What the admission policy cannot tell of a workload, which the webhook would.

The policy of manifests/policy sees a new pod and its namespace: neither the pod's workload, nor its
siblings, nor nodes. So it counts no floor, knows no ``ordinals.start``, and full pools neither.
"""

from collections.abc import Iterator, Mapping

import msgspec

from evenkeel.decisions.floor.source import MANY, FloorOf, floor_of
from evenkeel.decisions.pools.spread import goal_of
from evenkeel.model import names
from evenkeel.model.affinity import DO_NOT_SCHEDULE, TopologySpread
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.floor import ALL
from evenkeel.model.template import is_by_template
from evenkeel.model.workload import Workload


def untold(
    workload: Workload,
    found: FloorOf,
    namespace_annotations: Mapping[str, str],
    *,
    in_gang: bool,
    labels: CapacityLabels = WELL_KNOWN,
) -> Iterator[str]:
    """What the policy does otherwise than the webhook, and what to write; a clause for each.

    ``found`` is the workload's floor, ``in_gang``: its pods name a group that is a gang. ``labels``
    tell the nodes' capacity types. Nothing where its template places its pods.

    - pods with a hard spread over a capacity label are left: one that a template was given for a
      floor cannot be told from one of its owner's;
    - a floor on the workload itself is not seen, where the pod template and the namespace say
      another one, or none;
    - a floor of some pods has to be counted, unless the pods have ordinals. While some are asked
      for, all go to on-demand: what is not known never justifies spot;
    - ordinals are taken to begin at 0;
    - full pools are not known.
    """
    if is_by_template(workload):
        return
    spreads = workload.spec.template.spec.topology_spread_constraints or ()
    own = next((each.topology_key for each in spreads if is_ratio(each, labels)), None)
    if own is not None:
        yield f"its template spreads its pods over {own}, so the policy leaves them as they are"
        return
    metadata = workload.metadata
    others = {key: v for key, v in metadata.annotations.items() if key != names.ON_DEMAND}
    as_seen = msgspec.structs.replace(
        workload, metadata=msgspec.structs.replace(metadata, annotations=others)
    )
    seen = floor_of(as_seen, namespace_annotations, in_gang=in_gang)
    if (seen.floor, seen.is_asked) != (found.floor, found.is_asked):
        yield (
            f"its floor of {found.floor} stands on the workload, which the policy does not see:"
            f" write {names.ON_DEMAND} into its pod template"
        )
    start = workload.first_ordinal if isinstance(workload, Controller) else None
    is_some = found.floor != ALL and found.floor.of(MANY) > 0
    if is_some and start is None:
        where = "go to on-demand" if seen.floor.of(MANY) > 0 else "prefer spot"
        yield (
            f"a floor of {found.floor} has to be counted, which the policy cannot: all new pods"
            f" {where}; write all or none, or {names.PLACEMENT}: {names.BY_TEMPLATE}"
        )
    if is_some and start:
        yield f"its ordinals start at {start}, and the policy counts its floor from 0"
    if goal_of(workload, workload.spec.template.metadata.annotations, namespace_annotations):
        yield f"{names.ONE_POOL_AT_MOST} is not kept: the policy knows no pools"


def is_ratio(spread: TopologySpread, labels: CapacityLabels) -> bool:
    """Whether a spread holds pods back for the sake of a ratio of capacity types."""
    return spread.topology_key in labels and spread.when_unsatisfiable == DO_NOT_SCHEDULE
