"""Reading groups of pods, of the kinds that pods name."""

from collections.abc import Collection, Sequence

from evenkeel.flows.reads import answered
from evenkeel.model.gang import PodGroup
from evenkeel.model.request import List, Listing, Selection
from evenkeel.ports import Cluster


def read_groups(
    cluster: Cluster, selections: Collection[Selection[PodGroup]]
) -> Sequence[PodGroup]:
    """The groups that are selected.

    A kind that the cluster does not have, or does not show, has none. Raises ClusterError where
    the API server does not answer.
    """
    requests = [List(each, fresh=False) for each in selections]
    return [
        item
        for reply in answered(cluster.perform(requests) if requests else ())
        if isinstance(reply.result, Listing)
        for item in reply.result.items
        if isinstance(item, PodGroup)
    ]
