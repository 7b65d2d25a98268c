"""The scheduler's two questions about a pod: which nodes it may go to, and how good each is."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import repeat
from typing import Final

from evenkeel.decisions.placement.verdict import Counted
from evenkeel.decisions.pools.spread import goal_of
from evenkeel.errors import EvenkeelError
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.metrics import Metric
from evenkeel.model.placement import OF_ITS_FLOOR
from evenkeel.model.reasons import Reason
from evenkeel.ports import Clock, Recorder
from evenkeel.settings import Mode
from evenkeel_extender.decisions.rank import FEWEST, beside_full_pools
from evenkeel_extender.decisions.wish import (
    EITHER,
    Wish,
    beside_own,
    by_count,
    by_floor,
    needs_no_owner,
)
from evenkeel_extender.messages import ExtenderArgs, FilterResult, HostPriority, PendingPod
from evenkeel_extender.patience import PATIENCE, Patience
from evenkeel_extender.store import Store

DRAINED: Final = "the node is drained"
"""Why a pod may not go to a node. An answer repeats it for thousands of nodes."""


class UnansweredError(EvenkeelError):
    """The scheduler has to go on without an answer; the message says why."""


class UnshownError(UnansweredError):
    """The watches have not shown yet what the answer depends on."""


class Extender:
    """Answers the scheduler. Any number of threads may ask at once."""

    def __init__(
        self,
        store: Store,
        labels: CapacityLabels,
        clock: Clock,
        recorder: Recorder,
        *,
        mode: Mode,
        everywhere: bool,
    ) -> None:
        """In observe mode it decides and records, but allows each pod all nodes, and ranks none.

        ``everywhere``: floors hold in all namespaces.
        """
        self._acts = mode is Mode.ACT
        self._store = store
        self._labels = labels
        self._clock = clock
        self._patience = Patience(clock)
        self._recorder = recorder
        self._everywhere = everywhere

    def filter(self, args: ExtenderArgs) -> FilterResult:
        """The nodes to which a pod may go: no doomed one, and for a pod of the floor no spot node.

        This call waits for what no watch has shown yet, so that ``prioritize``, which comes next,
        need not. Raises UnansweredError if something that the answer depends on is not known.
        """
        names = _names(args)
        with self._store.known:
            wish = self._awaited(args.pod)
            nodes = self._store.nodes
            failed = dict.fromkeys(nodes.closed.intersection(names), DRAINED)
            if wish.must and wish.capacity is not None:
                off = nodes.of[wish.capacity.other].intersection(names)
                failed = dict.fromkeys(off, OF_ITS_FLOOR) | failed
        if not failed or not self._acts:
            return FilterResult(node_names=names)
        left = [name for name in names if name not in failed]
        return FilterResult(node_names=left, failed_and_unresolvable_nodes=failed)

    def prioritize(self, args: ExtenderArgs) -> Sequence[HostPriority]:
        """A score for each node. Raises UnansweredError as ``filter`` does."""
        names = _names(args)
        with self._store.known:
            wish = self._wish(args.pod)
            if not self._acts:
                return ()
            base = self._store.nodes.bases(wish.capacity).get
            there = self._store.pods.nodes_of(args.pod.controller_key)
            if not there:
                return [HostPriority(name, base(name, 0) + FEWEST) for name in names]
            full = self._in_full_pools(args.pod, there)
            if not full:
                return _ranked(names, base, there)
            spot = self._store.nodes.of[Capacity.SPOT]
            return [
                HostPriority(each.host, beside_full_pools(each.score, is_ahead=is_ahead))
                for is_ahead in (False, True)
                for each in _ranked(
                    [n for n in names if (n in spot and n not in full) is is_ahead], base, there
                )
            ]

    def _awaited(self, pod: PendingPod) -> Wish:
        """What a pod wishes, after a wait if need be. Raises UnansweredError if that is in vain."""
        wish = self._shown(pod)
        if wish is None and self._patience.is_left_for(pod.metadata):
            within = PATIENCE.total_seconds()
            wish = self._store.known.wait_for(lambda: self._shown(pod), within)
            if wish is None:
                self._patience.was_in_vain(pod.metadata)
        return self._wish(pod) if wish is None else wish

    def _shown(self, pod: PendingPod) -> Wish | None:
        """What a pod wishes; None while the watches have not shown what that depends on."""
        with suppress(UnshownError):
            return self._wish(pod)
        return None

    def _wish(self, pod: PendingPod) -> Wish:
        return beside_own(self._placed(pod), pod, self._labels)

    def _placed(self, pod: PendingPod) -> Wish:
        """What a pod is to have by its floor. Raises UnansweredError if that is not known."""
        store = self._store
        if not store.is_filled:
            raise UnansweredError("not all nodes, pods and workloads were listed yet")
        namespace = store.namespace(pod.metadata.namespace)
        if namespace is None or store.is_paused:
            return EITHER
        wish = needs_no_owner(pod, namespace, self._labels, everywhere=self._everywhere)
        if wish is not None:
            return wish
        controller = self._controller_of(pod)
        if controller is None:
            raise UnshownError("the pod's controller was not shown yet")
        deployment = self._deployment_of(controller)
        now = self._clock.now()
        notes = namespace.metadata.annotations
        found = by_floor(pod, controller, deployment, notes, now)
        return self._counted(pod, controller, found) if isinstance(found, Counted) else found

    def _controller_of(self, pod: PendingPod) -> Controller | None:
        found = self._store.owner(pod.controller_key)
        return found if isinstance(found, Controller) else None

    def _deployment_of(self, controller: Controller) -> Deployment | None:
        above = self._store.owner(controller.controller_key)
        return above if isinstance(above, Deployment) else None

    def _in_full_pools(self, pod: PendingPod, there: Mapping[str, int]) -> AbstractSet[str]:
        """The nodes of pools with all pods of the workload that one is to have at most.

        ``there``: how many pods of the controller are on which nodes.
        """
        namespace = self._store.namespace(pod.metadata.namespace)
        controller = self._controller_of(pod)
        if namespace is None or controller is None:
            return frozenset()
        workload = self._deployment_of(controller) or controller
        goal = goal_of(workload, pod.metadata.annotations, namespace.metadata.annotations)
        return frozenset() if goal is None else self._store.nodes.in_full_pools(there, goal)

    def _counted(self, pod: PendingPod, controller: Controller, counted: Counted) -> Wish:
        """Count the pods of the floor. A pod that has to go to on-demand counts from now on.

        Only a pod that the API server has: made-up pods could fill a floor. Raises UnshownError for
        one that no watch has shown.
        """
        store, uid = self._store, pod.metadata.uid
        if not store.pods.is_waiting(uid, controller.key):
            raise UnshownError("the pod was not shown yet")
        wish = by_count(counted, store.pods.on_demand_of(controller.key, uid))
        if wish.must and store.pods.reserve(uid, controller.key):
            self._recorder.counted(Metric.PODS_PLACED_ON_DEMAND)
            self._recorder.decided(
                Decision.about(
                    pod.reference(pod.metadata.namespace),
                    Verb.PLACE,
                    Reason.IN_FLOOR,
                    f"to {Capacity.ON_DEMAND}: {wish.message}",
                    workload=controller.reference,
                )
            )
        return wish


def _ranked(
    names: Sequence[str], base: Callable[[str, int], int], there: Mapping[str, int]
) -> Sequence[HostPriority]:
    """The scores of these nodes, those of them with the fewest pods of the workload the best."""
    fewest = min(map(there.get, names, repeat(0)), default=0)
    return [
        HostPriority(name, base(name, 0) + (FEWEST if there.get(name, 0) == fewest else 0))
        for name in names
    ]


def _names(args: ExtenderArgs) -> Sequence[str]:
    if args.node_names is None:
        raise UnansweredError("the scheduler sent whole nodes: set nodeCacheCapable")
    return args.node_names
