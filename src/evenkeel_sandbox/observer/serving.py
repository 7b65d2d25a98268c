"""How many pods of a workload serve, and the fewest that ever did."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Serving:
    """The pods of one workload that serve now: the node of each, by the pod's uid.

    Its observer says what it is to serve, such as Ready and not told to go. ``lowest`` is the
    fewest there were at any look.
    """

    nodes: dict[str, str] = field(default_factory=dict)
    lowest: int = 0

    @property
    def ready(self) -> int:
        """How many serve now."""
        return len(self.nodes)

    def begin(self) -> None:
        """Forget how few there were before."""
        self.lowest = self.ready

    def look(self) -> None:
        """Keep in mind how few there are."""
        self.lowest = min(self.lowest, self.ready)

    def see(self, uid: str, node: str, *, serves: bool) -> None:
        """A pod was seen, and serves or does not."""
        if serves:
            self.nodes[uid] = node
        else:
            self.nodes.pop(uid, None)

    def lose(self, node: str) -> int:
        """A node is gone: nothing serves there, whatever its pods' objects say. How many did."""
        before = self.ready
        self.nodes = {uid: where for uid, where in self.nodes.items() if where != node}
        return before - self.ready
