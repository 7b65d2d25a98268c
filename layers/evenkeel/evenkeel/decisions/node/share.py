"""How many nodes may be cordoned for hints at once."""

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.release import LONGEST_RELEASE

SOONEST: Final = LONGEST_RELEASE
"""So long before its deadline a node may be cordoned for a hint: no release lasts longer."""


def admitted(
    hinted: Sequence[tuple[Node, NodeNotice]], spot_nodes: int, share: float
) -> Sequence[Node]:
    """The noted, not yet cordoned nodes that may be cordoned now, oldest notice first.

    A hint often comes for many nodes of a pool at once, most of which live on. So at most a
    ``share`` (0 to 1) of the ``spot_nodes`` of the cluster is cordoned for hints at a time;
    at least one, so that small clusters heed hints too, but none where the share is zero.
    Each kind of event has a share of its own: a recommendation should not have to wait because a
    node is cordoned until tomorrow.
    """
    allowed = max(int(share > 0), math.floor(round(share * spot_nodes, 6)))
    found: list[Node] = []
    for kind in sorted({notice.name for _, notice in hinted}):
        alike = [(notice, node) for node, notice in hinted if notice.name == kind]
        waiting = [
            (notice.since, node.name, node) for notice, node in alike if notice.cordoned_at is None
        ]
        cordoned = len(alike) - len(waiting)
        oldest = sorted(waiting, key=itemgetter(0, 1))[: max(0, allowed - cordoned)]
        found += [node for _, _, node in oldest]
    return found
