"""Controllers and what is above them, as seen by several watches and reads."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

from evenkeel.decisions.drain.owner import Owner, ReleasesRefused
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get

REFUSED_FOR: Final = timedelta(minutes=5)
"""So long no release is tried again of a workload whose releases are not taken."""


class Owners:
    """Controllers and Deployments, each at its highest resource version, by key (see ``Pods``).

    And what is remembered of their pods: how many were seen, and what was promised to releases.
    """

    def __init__(self, releases_refused: dict[str, ReleasesRefused] | None = None) -> None:
        """``releases_refused``: of which controllers, by key, releases were refused before."""
        self.controllers: dict[str, Controller] = {}
        self.deployments: dict[str, Deployment] = {}
        self.siblings: dict[str, Mapping[str, Pod]] = {}
        """By controller: the pods that its Deployment's others own, by uid, in a rollout."""
        self._minimums: dict[str, int] = {}  # by uid
        self._most_seen: dict[str, int] = {}
        self._refused = {} if releases_refused is None else releases_refused

    def update(self, owner: Controller | Deployment) -> bool:
        """Take a version of an owner if it is newer; whether plans may change with it."""
        if isinstance(owner, Deployment):
            above = self.deployments.get(owner.key)
            if above is not None and above.revision >= owner.revision:
                return False
            self.deployments[owner.key] = owner
            return above is None or not above.says_as_much_as(owner)
        last = self.controllers.get(owner.key)
        if last is not None and last.revision >= owner.revision:
            return False
        self.controllers[owner.key] = owner
        return last is None or owner.may_change_plans(last)

    def delete(self, owner: Controller | Deployment) -> bool:
        """An owner is gone; whether it was known."""
        if isinstance(owner, Deployment):
            return self.deployments.pop(owner.key, None) is not None
        return self.controllers.pop(owner.key, None) is not None

    def others_named(self, request: Get[Any], uid: str) -> Sequence[Controller | Deployment]:
        """Those of the kind and name of a request that have another uid."""
        named = request.kind, request.namespace, request.name
        known: Iterable[Controller | Deployment] = chain(
            self.controllers.values(), self.deployments.values()
        )
        return [
            each
            for each in known
            if (type(each), each.namespace, each.name) == named and each.uid != uid
        ]

    def planned_with(self, owner: Controller | Deployment) -> Iterable[str]:
        """The keys of the controllers whose plans depend on an owner: a Deployment's are below."""
        if isinstance(owner, Controller):
            return [owner.key]
        known = self.controllers.items()
        return [key for key, each in known if each.controller_key == owner.key]

    def of(self, pod: Pod) -> Owner:
        """Who owns a pod, or owned it before its release, as far as that is known."""
        reference = pod.controller
        release = pod.release if pod.released else None
        if reference is None and release is None:
            return Owner()
        kind = reference.full_kind if reference is not None else ""
        return self.above(self.controllers.get(pod.origin_key), kind)

    def above(self, controller: Controller | None, kind: str = "") -> Owner:
        """A controller, with the Deployment above it if that was read.

        ``kind``: its kind where it is not known itself; without one, that of released pods.
        """
        of = controller.resource.full_kind if controller is not None else kind
        has_above = controller is not None and controller.deployment is not None
        above = controller.controller_key if controller is not None and has_above else ""
        return Owner(
            kind=of or RELEASING.resource.full_kind,
            controller=controller,
            deployment=self.deployments.get(above),
            releases_refused=self._refused.get(controller.key) if controller else None,
        )

    def refuse_releases(self, key: str, words: str, now: datetime) -> bool:
        """Releases of a controller's pods are not taken; whether that was not known."""
        last = self._refused.get(key)
        self._refused[key] = ReleasesRefused(words, now + REFUSED_FOR)
        return last is None or last.until <= now

    def is_refused(self, key: str) -> bool:
        """Whether a quota refuses a controller pods, or has done so."""
        controller = self.controllers.get(key)
        return controller is not None and controller.is_refused

    def saw(self, key: str, number: int) -> int:
        """So many pods of a controller are seen; the most that were seen at a time."""
        self._most_seen[key] = max(number, self._most_seen.get(key, 0))
        return self._most_seen[key]

    def keep_at_least(self, uid: str, wanted: int) -> None:
        """A release promised to keep so many pods of a ReplicaSet available."""
        self._minimums[uid] = max(wanted, self._minimums.get(uid, 0))

    def minimum_of(self, controller: Controller | None) -> int:
        """How many pods of a controller have to stay available, as releases promised."""
        return 0 if controller is None else self._minimums.get(controller.uid, 0)
