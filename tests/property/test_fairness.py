"""Whatever happens in one namespace, plans of others and of the nodes are made within a second."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel_sandbox.simulator.clock import SimulatedClock

SECOND = timedelta(seconds=1)
MOST = 120
"""Milliseconds that a plan takes at most: that of a workload of some thousand pods."""
OTHER = "other/web"


class Noisy:
    """A namespace of many workloads, in which something happens in each turn."""

    def __init__(self, workloads: int, cost: int, *, urgent: bool, due: bool) -> None:
        self.keys = [f"noisy/{number}" for number in range(workloads)]
        self.cost = timedelta(milliseconds=cost)
        self._urgent = urgent
        self._due = due

    def happen(self, queue: Queue, clock: SimulatedClock) -> None:
        """All of its plans change, by what is seen or by the time."""
        for number, key in enumerate(self.keys):
            if self._due:
                queue.again(key, clock.now() + timedelta(milliseconds=1 + number % 7))
            else:
                queue.add([key], urgent=self._urgent)


noises = st.lists(
    st.builds(
        Noisy,
        st.integers(1, 300),
        st.integers(0, MOST),
        urgent=st.booleans(),
        due=st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


@given(noises, st.booleans(), st.integers(1, 50), st.integers(0, 2_000))
def test_no_namespace_keeps_the_others_and_the_nodes_waiting(
    noises: list[Noisy],
    urgent: bool,  # noqa: FBT001 - drawn
    sending: int,
    quiet: int,
) -> None:
    queue, clock = Queue(), SimulatedClock()
    costs = {key: noise.cost for noise in noises for key in noise.keys}
    waiting_since = dict.fromkeys((OTHER, NODES), clock.now() + timedelta(milliseconds=quiet))
    added = False
    end = clock.now() + timedelta(milliseconds=quiet) + 3 * SECOND
    while waiting_since and clock.now() < end:
        for noise in noises:
            noise.happen(queue, clock)
        if not added and clock.now() >= waiting_since[OTHER]:
            added = True
            waiting_since = dict.fromkeys(waiting_since, clock.now())
            queue.add([OTHER], urgent=urgent)
            queue.add([NODES], urgent=True)
        for key in queue.take(clock):
            since = waiting_since.pop(key, None) if added else None
            assert since is None or clock.now() - since <= SECOND
            clock.advance(costs.get(key, timedelta(milliseconds=1)))
        clock.advance(timedelta(milliseconds=sending))
    assert not waiting_since


def test_a_namespace_that_was_quiet_goes_next_and_not_for_long() -> None:
    """It has no time to its credit: what it did not use does not let it hold up the busy ones."""
    queue, clock = Queue(), SimulatedClock()
    busy, woken = [f"busy/{n}" for n in range(100)], [f"woken/{n}" for n in range(100)]

    def take() -> list[str]:
        taken = list[str]()
        for key in queue.take(clock):
            taken.append(key.partition("/")[0])
            clock.advance(timedelta(milliseconds=10))
        return taken

    queue.add(busy, urgent=True)
    assert set(take()) == {"busy"}
    queue.add(woken, urgent=True)
    taken = take()
    assert abs(taken.count("busy") - taken.count("woken")) <= 1
