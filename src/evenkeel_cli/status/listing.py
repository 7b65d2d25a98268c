"""Where workloads stand, as ``evenkeel status`` shows it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from evenkeel.decisions.floor.source import Source
from evenkeel.decisions.floor.standing import Standing
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.reasons import Reason
from evenkeel.model.template import is_by_template
from evenkeel_cli import capacity, words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.decisions.remarks import Remark, of_standing
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Listing, ObjectItem
from evenkeel_cli.status.gather import Found
from evenkeel_cli.status.with_restore import remarks

MOST_TOLD: Final = 10
"""So many warnings, and so many evictions that wait, are told of in sentences."""
MOST_NODES: Final = 5
"""So many nodes without a label are named."""

NO_FLOOR: Final = "no floor"
"""Nothing is wrong with a workload, and it may lose all replicas with the spot nodes."""


BELOW_DEFAULT: Final = "below default"
"""Fewer than a default floor would survive, which breaks nothing that somebody asked for."""


class Floor(Item, frozen=True, kw_only=True):
    """How many replicas have to be on on-demand nodes, by which policy, and who says so."""

    replicas: int
    policy: str
    source: str


class WorkloadStatus(ObjectItem, frozen=True, kw_only=True):
    """Where the replicas of a Deployment or StatefulSet are.

    ``ok``: nothing puts replicas at risk. ``onDemand`` and ``spot`` are its pods on such nodes,
    ``waiting`` those without a node, ``moving`` those that are being handed over. ``survivors``
    are Ready on on-demand nodes: what would be left if every spot node died now.
    ``survivorsOfPool`` would be left if the one pool of spot nodes died that has most Ready pods of
    it. ``remarks`` are what is off. ``placement`` is what places its pods, where it is ``managed``.
    What rests on a namespace that a snapshot lacks is null: ``managed``, and ``floor`` and ``ok``
    of a workload that asks for no floor itself.
    """

    ok: bool | None
    replicas: int
    floor: Floor | None
    on_demand: int
    spot: int
    waiting: int
    moving: int
    survivors: int
    survivors_of_pool: int
    managed: bool | None
    placement: str
    remarks: Sequence[Remark]
    evictions: Sequence[str]
    why_waiting: str

    @property
    def prefers(self) -> bool:
        """Whether its floor is a default above none, which is a preference."""
        floor = self.floor
        return floor is not None and floor.source == Source.DEFAULT and floor.replicas > 0

    @property
    def ok_or_no_floor(self) -> bool | str | None:
        """Whether nothing puts replicas at risk.

        Of one without a floor, that none has to stand; of one below a default floor, that.
        """
        if not self.ok or self.floor is None:
            return self.ok
        if self.prefers and self.survivors < self.floor.replicas:
            return BELOW_DEFAULT
        return self.ok if self.floor.replicas else NO_FLOOR

    @property
    def floor_in_words(self) -> str:
        """``12``, ``2 by default``, as nobody asked for that; empty where it is not known."""
        if self.floor is None:
            return ""
        return f"{self.floor.replicas} by default" if self.prefers else str(self.floor.replicas)

    @property
    def status(self) -> str:
        """What is off, in a few words; empty where nothing is."""
        return ", ".join(remark.brief for remark in self.remarks)


class WorkloadStatusList(Listing, frozen=True, kw_only=True):
    """Where every workload stands against its floor: what ``evenkeel status`` prints."""

    columns: ClassVar[Columns[WorkloadStatus]] = (
        NAMESPACE,
        WORKLOAD,
        Column("OK", lambda each: each.ok_or_no_floor),
        Column("REPLICAS", lambda each: each.replicas, yields=1),
        Column("FLOOR", lambda each: each.floor_in_words),
        Column("POLICY", lambda each: each.floor and each.floor.policy, wide=True),
        Column("FROM", lambda each: each.floor and each.floor.source, wide=True),
        Column("PLACED-BY", lambda each: each.placement if each.managed else "", wide=True),
        Column("ON-DEMAND", lambda each: each.on_demand, yields=3),
        Column("SPOT", lambda each: each.spot, yields=2),
        Column("WAITING", lambda each: each.waiting, wide=True),
        Column("MOVING", lambda each: each.moving, wide=True),
        Column("SURVIVE", lambda each: each.survivors, yields=4),
        Column("SURVIVE-POOL", lambda each: each.survivors_of_pool, wide=True),
        Column("STATUS", lambda each: each.status),
    )

    items: Sequence[WorkloadStatus]

    @property
    def headline(self) -> str:
        """How many would have nothing left without spot; empty where there is no workload."""
        if not self.items:
            return ""
        wanting = [each for each in self.items if each.replicas]
        none = sum(not each.survivors for each in wanting)
        below = sum(each.survivors < each.floor.replicas for each in wanting if each.floor)
        fewer = f", and {below} fewer than the floor" if below else ""
        return (
            f"If every spot node died now, {none} of {words.counted(len(wanting), 'workload')}"
            f" would have no Ready pod{fewer}."
        )

    def sentences(self) -> Iterator[str]:
        """What to do about workloads that are at risk or below a default floor, and what waits."""
        warnings, evictions = [], []
        for each in self.items:
            name = words.workload_name(each.subject)
            why = f" ({each.why_waiting.rstrip('.')})" if each.why_waiting else ""
            told = (r for r in each.remarks if r.warning or r.reason is Reason.DEFAULT_FLOOR)
            warnings += [(name, r.message) for r in told]
            evictions += [f"{name}: {eviction}{why}." for eviction in each.evictions]
        yield from _some(words.once(warnings), "remark", "remarks")
        yield from _some(evictions, "eviction that waits", "evictions that wait")


def _some(sentences: Sequence[str], one: str, many: str) -> Iterator[str]:
    """The first sentences, and how many there are besides."""
    yield from sentences[:MOST_TOLD]
    if (left := len(sentences) - MOST_TOLD) > 0:
        yield f"And {words.counted(left, f'more {one}', f'more {many}')}: see -o json."


def listing(found: Found) -> WorkloadStatusList:
    """An item for each workload."""
    items = []
    for standing in found.standings:
        workload = standing.workload.reference
        pools = found.pools[workload]
        evictions = found.evictions[workload]
        unseen = workload.namespace in found.unseen
        told = [*of_standing(standing, evictions, unseen=True), *pools.remarks]
        if not unseen:
            told = [
                *remarks(standing, evictions, found.restores.get(workload)),
                *pools.remarks,
                *found.spreads[workload],
                *found.by_policy.get(workload, ()),
            ]
        waits = [eviction.message for eviction in evictions]
        placement = "policy" if workload in found.by_policy else "webhook"
        if is_by_template(standing.workload):
            placement = names.BY_TEMPLATE
        items.append(_item(standing, told, pools.survivors, waits, placement, unseen=unseen))
    return WorkloadStatusList(items=items)


def of_others(found: Found) -> Iterator[str]:
    """Where pods are that no workload has."""
    yield from _some(found.others, "owner of pods", "owners of pods")


def of_elsewhere(elsewhere: Mapping[str, int]) -> Iterator[str]:
    """What is not shown, for another namespace has it."""
    if elsewhere:
        more = words.counted(sum(elsewhere.values()), "more workload")
        where = words.counted(len(elsewhere), "other namespace")
        names = _named(sorted(elsewhere))
        yield f"-A shows {more}, of {where} ({names})."


def of_nodes(nodes: UnknownCapacity, labels: CapacityLabels) -> Iterator[str]:
    """What to do about nodes of which no label tells the capacity type.

    Nothing where there are none.
    """
    if nodes.unlabelled:
        count = words.counted(len(nodes.unlabelled), "node has", "nodes have")
        yield (
            f"{count} no label of a capacity type, which counts as on-demand:"
            f" {_named(nodes.unlabelled)}. A spot node that is not made by EKS or Karpenter has to"
            f" be labelled {labels.spot_label}."
        )
    for kind, found in nodes.elsewhere.items():
        count = words.counted(len(found), "node is", "nodes are")
        yield (
            f"{count} no EC2 instance ({kind}): {_named(found)}. No notice can be about such a"
            " node, and no pod is moved from there or to there."
        )
    if nodes.blocks:
        count = words.counted(len(nodes.blocks), "node is", "nodes are")
        yield (
            f"{count} in a Capacity Block, which counts as on-demand: {_named(nodes.blocks)}. All"
            " of a block end at one time, and so does a floor that stands there."
        )
    for label, found in nodes.doubtful.items():
        count = words.counted(len(found), "node has", "nodes have")
        yield (
            f"{count} the label {label}, which says neither spot nor on-demand: {_named(found)}. No"
            f" floor holds there: {capacity.advice(labels, label)}."
        )


def _named(nodes: Sequence[str]) -> str:
    return words.listed(list(map(words.short_node, nodes)), MOST_NODES)


def _item(
    standing: Standing,
    told: Sequence[Remark],
    survivors_of_pool: int,
    evictions: Sequence[str],
    placement: str,
    *,
    unseen: bool,
) -> WorkloadStatus:
    floor = standing.floor
    is_known = floor.is_asked or not unseen
    return WorkloadStatus(
        subject=standing.workload.reference,
        ok=not any(remark.warning for remark in told) if is_known else None,
        replicas=standing.replicas,
        floor=Floor(replicas=standing.wanted, policy=str(floor.floor), source=floor.source.value)
        if is_known
        else None,
        on_demand=standing.on_demand,
        spot=standing.spot,
        waiting=standing.waiting,
        moving=standing.released,
        survivors=standing.survivors,
        survivors_of_pool=survivors_of_pool,
        managed=None if unseen else standing.is_managed,
        placement=placement,
        remarks=told,
        evictions=evictions,
        why_waiting=standing.why_waiting,
    )
