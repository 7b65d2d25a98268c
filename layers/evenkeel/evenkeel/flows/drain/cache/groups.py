"""The groups that pods name, and which pods and controllers are in each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from evenkeel.flows import selections
from evenkeel.flows.reads import MANY
from evenkeel.model.gang import GroupName
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection


class Groups:
    """The active pods of each group. A controller stays in a group that a pod of it has named."""

    def __init__(self) -> None:
        self._members: dict[GroupName, dict[str, Pod]] = {}
        self._alike = Counter[tuple[str, str]]()  # by namespace and label
        self._listed: dict[GroupName, Sequence[Pod]] = {}
        self._of: defaultdict[str, set[GroupName]] = defaultdict(set)  # by controller
        self._controllers: defaultdict[GroupName, set[str]] = defaultdict(set)
        self.are_named = False
        """Whether a pod has named any."""

    def update(self, group: GroupName, pod: Pod, controller_key: str, *, counts: bool) -> None:
        """A pod of a group is so; whether it counts."""
        self.are_named = True
        self._of[controller_key].add(group)
        self._controllers[group].add(controller_key)
        if group not in self._members:
            self._alike[group.namespace, group.label] += 1
        members = self._members.setdefault(group, {})
        if counts:
            members[pod.uid] = pod
        else:
            members.pop(pod.uid, None)
        self._listed.pop(group, None)

    def members(self, group: GroupName) -> Sequence[Pod]:
        """The pods that count; the same list, until one of them changes."""
        if group not in self._listed:
            self._listed[group] = list(self._members.get(group, {}).values())
        return self._listed[group]

    def listing(self, group: GroupName) -> List[Pod]:
        """What to ask for the pods of a group that a pod has named; see ``is_listed``.

        Kubernetes' own groups are named by a field that nothing selects by: of those all pods of
        the namespace are listed, and the others left out. Where there are many groups all pods with
        their label are listed at once, because a tenant can name as many groups as he likes.
        """
        _, namespace, _, label, value = group
        if not label:
            return List(Selection(Pod, namespace), fresh=False, kept=_if_in_own_group)
        if self._alike[namespace, label] > MANY:
            return List(Selection(Pod, namespace, labels=label), fresh=False)
        return List(selections.labelled(namespace, label, value), fresh=False)

    def of(self, controller_key: str) -> Iterable[GroupName]:
        """The groups that pods of a controller have named."""
        return self._of.get(controller_key, ())

    def controllers(self, group: GroupName) -> Iterable[str]:
        """The keys of the controllers of which a pod has named a group."""
        return self._controllers[group]


def is_listed(where: Selection[Pod], pod: Pod) -> bool:
    """Whether a list of the pods of a node, or of groups, shows a pod as it is known."""
    if where.fields:
        return where.fields == selections.ON_NODE + pod.spec.node_name
    if pod.namespace != where.namespace or not where.labels:
        return pod.namespace == where.namespace and _if_in_own_group(pod) is not None
    label, _, name = where.labels.partition("=")
    own = pod.metadata.labels.get(label, "")
    return own == name if name else bool(own)


def _if_in_own_group(pod: Pod) -> Pod | None:
    return pod if pod.spec.scheduling_group is not None else None
