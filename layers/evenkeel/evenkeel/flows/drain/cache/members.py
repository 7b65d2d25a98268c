"""Which pods of each controller count, and which are going, by the controllers' keys."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from evenkeel.model.pod import Pod


class Members:
    """The pods that a controller owns, or that were released from it, but for finished ones."""

    def __init__(self, awaits: Callable[[str], bool]) -> None:
        """``awaits``: whether a controller's plan changes only once a pod that goes is gone."""
        self._awaits = awaits
        self._counting: defaultdict[str, dict[str, Pod]] = defaultdict(dict)
        self._going: defaultdict[str, dict[str, Pod]] = defaultdict(dict)

    def update(self, key: str, pod: Pod, *, counts: bool) -> None:
        """A pod of a controller is like this, and counts or is going; a finished one is neither."""
        self.delete(key, pod.uid)
        if not pod.finished:
            (self._counting if counts else self._going)[key][pod.uid] = pod

    def delete(self, key: str, uid: str) -> bool:
        """A pod is none of this controller's; whether it mattered."""
        did_matter = self.matters(key, uid)
        self._going[key].pop(uid, None)
        self._counting[key].pop(uid, None)
        return did_matter

    def of(self, key: str) -> Sequence[Pod]:
        """The pods of a controller that count. Sorted by uid: equal knowledge, equal decisions."""
        pods = self._counting.get(key, {})
        return [pods[uid] for uid in sorted(pods)]

    def going(self, key: str) -> Sequence[Pod]:
        """The pods that are told to go, or about to be, and are not gone, if that is awaited.

        Sorted by uid.
        """
        pods = self._going.get(key, {}) if self._awaits(key) else {}
        return [pods[uid] for uid in sorted(pods)]

    def told(self, key: str) -> Iterable[Pod]:
        """As ``going``, awaited or not, and in no order."""
        return self._going.get(key, {}).values()

    def matters(self, key: str, uid: str) -> bool:
        """Whether the controller's plan depends on this pod of it."""
        return uid in self._counting.get(key, ()) or self._awaits(key)

    def number_of(self, key: str) -> int:
        """How many pods of a controller are there, and were not leaving when they were seen."""
        going = self._going.get(key, {}).values()
        return len(self._counting.get(key, {})) + sum(not pod.leaving for pod in going)

    def has_any(self, key: str) -> bool:
        """Whether a controller has pods that count, or awaits that others are gone."""
        return bool(self._counting.get(key)) or self._awaits(key)

    @property
    def number(self) -> int:
        """How many pods count, of all controllers."""
        return sum(map(len, self._counting.values()))
