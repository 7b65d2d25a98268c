"""Planning for what has changed or is due, one key of the queue after the other."""

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.nodes import NodeReconciler
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.sync.reader import Reader
from evenkeel.ports import Clock


class Reconcile:
    """Turns the keys that the queue has by now into plans.

    In a storm changes wait a little, so that planning takes only a share of the time. Plans that
    are due do not wait, nor those that have to be made before another step.
    """

    def __init__(
        self, view: View, plans: Plans, keeper: NodeReconciler, reader: Reader, clock: Clock
    ) -> None:
        self.queue = view.queue
        self._view = view
        self._plans = plans
        self._keeper = keeper
        self._reader = reader
        self._clock = clock

    def begin(self) -> None:
        """All that is known is to be planned for."""
        self.queue.add([*self._plans.controllers, NODES], urgent=True)

    def __call__(self) -> None:
        """Plan for the keys that may not wait, and for others as far as the share goes.

        Then ask for what the plans lack.
        """
        plans, keeper = self._plans, self._keeper
        for key in self.queue.take(self._clock):
            now = self._clock.now()
            if key == NODES:
                plans.of_nodes = keeper.plan(plans.handovers | self._view.unread, now)
            else:
                plans.replan(key, now)
        self._reader.ask(self._clock.now())

    @property
    def has_work(self) -> bool:
        """Whether a key waits, or something that was asked and is needed to decide."""
        return bool(self.queue or self._keeper.questions) or self._view.facts.are_missing
