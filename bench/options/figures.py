"""What an observer saw of a workload on on-demand nodes, and of its pods without a node."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from bench.storm.figures import Sight
from evenkeel_sandbox.observer.serving import Serving


@dataclass(slots=True)
class Extremes:
    """The fewest pods that served on on-demand nodes, and the most that had no node."""

    serving: Serving = field(default_factory=Serving)
    waiting: set[str] = field(default_factory=set)
    most_pending: int = 0

    def see(self, sight: Sight, on_demand: Collection[str]) -> None:
        """One change."""
        if sight.kind == "node":
            if sight.gone:
                self.serving.lose(sight.name)
            return
        self.serving.see(sight.uid, sight.node, serves=sight.serves and sight.node in on_demand)
        if sight.node or sight.leaving or sight.gone:
            self.waiting.discard(sight.uid)
        else:
            self.waiting.add(sight.uid)


def extremes(sights: Iterable[Sight], on_demand: Collection[str], since: float) -> Extremes:
    """Those since a time, in seconds since 1970; ``on_demand`` names the nodes."""
    found, has_begun = Extremes(), False
    for sight in sights:
        if not has_begun and sight.at >= since:
            found.serving.begin()
            has_begun = True
        found.see(sight, on_demand)
        if has_begun:
            found.serving.look()
            found.most_pending = max(found.most_pending, len(found.waiting))
    if not has_begun:
        found.serving.begin()
    return found
