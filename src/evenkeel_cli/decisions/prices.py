"""What instances cost: on-demand by type, and spot as a share of that."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity, of_unknown_capacity

HOURS: Final = 365 * 24 / 12
"""Hours of a month."""

WINDOWS: Final = "windows"

A_THIRD: Final = 1 / 3
"""What spot costs of on-demand where nobody says so: a rule of thumb."""

REGION: Final = "topology.kubernetes.io/region"
ZONE_OF_REGION: Final = re.compile(r"([a-z]+(?:-[a-z]+)+-[0-9]+)[a-z]")


class PriceSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where prices are from: of which region they are, from when, and who says so."""

    region: str
    date: str
    source: str


class Price(NamedTuple):
    """US dollars a month of one node, on-demand and spot. ``is_assumed``: spot by ``A_THIRD``."""

    on_demand: float
    spot: float
    is_assumed: bool


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars an hour by instance type, and spot's shares of them by ``TYPE/ZONE``.

    An instance with Windows costs more, and is of the type ``TYPE/windows``. Either half of such a
    key of ``spot`` may be ``*``. The first source is the main one.
    """

    sources: Sequence[PriceSource]
    on_demand: Mapping[str, float]
    spot: Mapping[str, float] = {}

    @property
    def region(self) -> str:
        """Of which region they are."""
        return self.sources[0].region

    def of(self, node: Node) -> Price | None:
        """What a node costs on either capacity type; None where its type is not known."""
        pool = _pool(node)
        hour = self.on_demand.get(_priced(node))
        if hour is None:
            return None
        share = self.share(pool)
        spot = A_THIRD if share is None else share
        return Price(hour * HOURS, hour * HOURS * spot, share is None)

    def share(self, pool: Pool) -> float | None:
        """What spot costs of on-demand in a pool; None where nobody says.

        The pool itself counts, else its type, else its zone, else what is said of all.
        """
        keys = (f"{pool.type}/{pool.zone}", f"{pool.type}/*", f"*/{pool.zone}", "*/*")
        return next((self.spot[key] for key in keys if key in self.spot), None)


class Gaps(msgspec.Struct, frozen=True, kw_only=True):
    """What prices do not tell of a cluster's nodes.

    ``unknown``: how many nodes there are of each type without a price; of no type under an empty
    one. ``assumed``: of how many nodes spot's price is by the rule of thumb, ``assumed_spot`` of
    them are spot. ``elsewhere``: regions of nodes that the prices are not of.
    ``unknown_capacity``: nodes whose type is not known.
    """

    unknown: Mapping[str, int]
    assumed: int
    assumed_spot: int
    elsewhere: Sequence[str]
    unknown_capacity: UnknownCapacity


def gaps(nodes: Sequence[Node], labels: CapacityLabels, prices: Prices) -> Gaps:
    """What is not known of these nodes."""
    priced = [(node, prices.of(node)) for node in nodes]
    assumed = [node for node, price in priced if price is not None and price.is_assumed]
    regions = {region_of(node) for node in nodes} - {"", prices.region}
    return Gaps(
        unknown=Counter(_priced(node) for node, price in priced if price is None),
        assumed=len(assumed),
        assumed_spot=sum(labels.of(node) is Capacity.SPOT for node in assumed),
        elsewhere=sorted(regions),
        unknown_capacity=of_unknown_capacity(nodes, labels),
    )


def region_of(node: Node) -> str:
    """The region of a node, by its label or its zone's name; empty where neither tells it."""
    its = node.metadata.labels
    found = ZONE_OF_REGION.fullmatch(its.get(names.ZONE, ""))
    return its.get(REGION) or (found[1] if found else "")


def _priced(node: Node) -> str:
    """What a node's price is known by."""
    type_ = _pool(node).type
    is_windows = type_ and node.metadata.labels.get(names.OS) == WINDOWS
    return f"{type_}/{WINDOWS}" if is_windows else type_


def _pool(node: Node) -> Pool:
    """The pool that a node is in if it is spot."""
    its = node.metadata.labels
    return Pool(its.get(names.INSTANCE_TYPE, ""), its.get(names.ZONE, ""))
