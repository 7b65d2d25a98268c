"""Which objects' writes are under way, and how many of them each namespace has."""

from collections import Counter

from evenkeel.model.meta import Reference


class UnderWay:
    """One write at a time per object: sent and not answered, or its answer is being looked up."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._namespaces: dict[str, str] = {}  # by uid
        self._in: Counter[str] = Counter()

    def __bool__(self) -> bool:
        """Whether any write is."""
        return bool(self._namespaces)

    def __contains__(self, uid: str) -> bool:
        """Whether a write to this object is."""
        return uid in self._namespaces

    def begin(self, subject: Reference) -> None:
        """A write to an object is sent."""
        self._namespaces[subject.uid] = subject.namespace
        self._in[subject.namespace] += 1

    def end(self, uid: str) -> None:
        """What came of it is known."""
        self._in[self._namespaces.pop(uid)] -= 1

    def number_in(self, namespace: str) -> int:
        """How many are to objects of a namespace."""
        return self._in[namespace]
