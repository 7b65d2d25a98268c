"""What sends requests to a Service's pods, and knows of a change later than the API server does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from evenkeel_sandbox.simulator.api.objects import Obj, at


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of balancer.

    It sends requests to an endpoint ``learns`` seconds after that is ready, and until ``forgets``
    seconds after it is not. One that ``falls_back`` sends them to endpoints that still serve while
    they end, where no other is ready.
    """

    name: str
    learns: float
    forgets: float
    falls_back: bool = False


PROXY: Final = Kind("proxy", learns=0.5, forgets=0.5, falls_back=True)
"""kube-proxy. https://kubernetes.io/blog/2022/12/30/advancements-in-kubernetes-traffic-engineering/"""

ALB: Final = Kind("ALB", learns=15.0, forgets=0.0)
"""An ALB in ip mode, whose targets are healthy after some checks, 5 s apart."""

SLOW_ALB: Final = Kind("slow ALB", learns=15.0, forgets=3.0)
"""The same, which takes its time to let go of a target."""


@dataclass(slots=True)
class _Target:
    since: float
    until: float | None = None


@dataclass(slots=True)
class Balancer:
    """A balancer of one Service, which gives its targets requests in turn."""

    kind: Kind
    _targets: dict[str, _Target] = field(default_factory=dict)  # by address
    _turn: int = 0

    def see(self, now: float, endpoints: Sequence[Obj]) -> None:
        """All endpoints of the Service, as the API server has them now."""
        usable = _addresses(endpoints, "ready")
        if not usable and self.kind.falls_back:
            usable = _addresses(endpoints, "serving")
        for address, target in self._targets.items():
            if target.until is None and address not in usable:
                target.until = now
        for address in usable:
            if address not in self._targets or self._targets[address].until is not None:
                self._targets[address] = _Target(now)

    def target(self, now: float) -> str | None:
        """The address that the next request goes to; None if there is no target."""
        known = [each for each, target in self._targets.items() if self._knows(target, now)]
        self._turn += 1
        return known[self._turn % len(known)] if known else None

    def _knows(self, target: _Target, now: float) -> bool:
        has_learnt = target.since + self.kind.learns <= now
        return has_learnt and (target.until is None or now < target.until + self.kind.forgets)


def _addresses(endpoints: Sequence[Obj], condition: str) -> set[str]:
    return {each["addresses"][0] for each in endpoints if at(each, "conditions", condition)}


@dataclass(slots=True)
class Slices:
    """A Service's endpoints, which are in one or several slices."""

    _slices: dict[str, Sequence[Obj]] = field(default_factory=dict)

    def see(self, found: Obj, *, gone: bool) -> Sequence[Obj]:
        """A slice as it is now; all endpoints of its Service."""
        self._slices[found["metadata"]["name"]] = () if gone else found.get("endpoints") or ()
        return [each for some in self._slices.values() for each in some]
