"""Reading which pods are in a group."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.reads import MANY, answer
from evenkeel.model.gang import GroupName, group_of
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Listing, Selection
from evenkeel.ports import Cluster


class Members(NamedTuple):
    """The pods of groups, as listed: what names one of these groups and is not there is gone."""

    groups: frozenset[GroupName]
    listing: Listing[Pod]

    def tell(self, pods: Pods) -> None:
        """Let pods be known so."""
        pods.relist(
            self.listing.items,
            self.listing.revision,
            lambda pod: group_of(pod) in self.groups,
            urgent=True,
        )


def read_members(cluster: Cluster, view: View) -> Sequence[Members]:
    """Read all pods of the groups that pods seen name. Raises ClusterError.

    Kubernetes' own groups are named by a field that nothing selects by: of those all pods of the
    namespace are listed, and the others left out.
    """
    alike = defaultdict[tuple[str, str], set[GroupName]](set)
    for group in view.pods.groups:
        alike[group.namespace, group.label].add(group)
    asked = [each for groups in alike.values() for each in _selections(groups)]
    replies = cluster.perform(
        [List(where, fresh=False, kept=partial(_if_in, names)) for where, names in asked]
    )
    found = []
    for (_, names), reply in zip(asked, replies, strict=True):
        listing = answer(reply)
        assert isinstance(listing, Listing)  # noqa: S101 - a List answers a Listing
        pods = [item for item in listing.items if isinstance(item, Pod)]
        members = Members(names, Listing(pods, listing.resource_version))
        members.tell(view.pods)
        found.append(members)
    return found


def _selections(
    groups: Collection[GroupName],
) -> Iterator[tuple[Selection[Pod], frozenset[GroupName]]]:
    """What to list for groups of one namespace that are named by the same label, or by none.

    Of many groups all pods with that label are listed at once, because a tenant can name as many
    groups as he likes.
    """
    namespace, label = next((each.namespace, each.label) for each in groups)
    if label and len(groups) <= MANY:
        for each in groups:
            yield selections.labelled(namespace, label, each.name), frozenset([each])
    else:
        yield Selection(Pod, namespace, labels=label), frozenset(groups)


def _if_in(groups: frozenset[GroupName], pod: Pod) -> Pod | None:
    return pod if group_of(pod) in groups else None
