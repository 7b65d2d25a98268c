"""The groups that pods name, and which pods and controllers are in each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from evenkeel.model.gang import GroupName, group_of
from evenkeel.model.pod import Pod


class Groups:
    """The active pods of each group. A controller stays in a group that a pod of it has named."""

    def __init__(self) -> None:
        self._members: dict[GroupName, dict[str, Pod]] = {}
        self._listed: dict[GroupName, Sequence[Pod]] = {}
        self._of: defaultdict[str, set[GroupName]] = defaultdict(set)  # by controller
        self._controllers: defaultdict[GroupName, set[str]] = defaultdict(set)

    def __bool__(self) -> bool:
        """Whether a pod has named any."""
        return bool(self._members)

    def __iter__(self) -> Iterator[GroupName]:
        """The groups that pods have named."""
        return iter(self._members)

    def see(self, pod: Pod, controller_key: str, *, counts: bool) -> None:
        """A pod is so; whether it counts."""
        group = group_of(pod)
        if group is None:
            return
        self._of[controller_key].add(group)
        self._controllers[group].add(controller_key)
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

    def with_mates(self, controller_keys: Iterable[str]) -> set[str]:
        """These controllers, and all that share a group with one of them."""
        found = set(controller_keys)
        if self:
            groups = {group for key in found for group in self._of.get(key, ())}
            found.update(*(self._controllers[group] for group in groups))
        return found
