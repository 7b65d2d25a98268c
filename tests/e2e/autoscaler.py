"""An autoscaler of spot nodes on the wall clock: each pod that waits gets a node of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj, is_leaving, labels_of, node_of, uid_of
from tests.e2e.harness import Site

EVERY = 0.25
STOPPING = 60.0


@contextmanager
def autoscaling(site: Site, *, late: float, cpu: str, ignored: str = "") -> Iterator[None]:
    """Spot nodes ``new-0``, ``new-1`` ... come, ``late`` seconds after a pod is seen to wait.

    Each has so much ``cpu``. Seats count as any pod does, and pods whose label ``app`` is
    ``ignored`` get no node.
    """
    stopping, errors = Event(), list[Exception]()

    def scale() -> None:
        try:
            _scale(site, stopping, timedelta(seconds=late), cpu, ignored)
        except Exception as error:  # noqa: BLE001 - raised again where the test goes on
            errors.append(error)

    thread = Thread(target=scale, name="autoscaler", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(STOPPING)
    assert not errors, errors


def _scale(site: Site, stopping: Event, late: timedelta, cpu: str, ignored: str) -> None:
    """Whoever still waits so much later, because others took the node, gets another one."""
    clock, due, made = SystemClock(), dict[str, datetime](), 0
    while not stopping.wait(EVERY):
        now = clock.now()
        waiting = [uid_of(pod) for pod in _waiting(site) if labels_of(pod).get("app") != ignored]
        due = {uid: due.get(uid, now + late) for uid in waiting}
        come = [uid for uid, at in due.items() if at <= now]
        due |= dict.fromkeys(come, now + late)
        site.add_nodes(*(f"new-{number}" for number in range(made, made + len(come))), cpu=cpu)
        made += len(come)


def _waiting(site: Site) -> Sequence[Obj]:
    """The pods without a node, seats among them."""
    seats = site.control_plane.pods(names.SYSTEM_NAMESPACE)
    found = [*seats, *site.witness.pods()]
    return [pod for pod in found if not node_of(pod) and not is_leaving(pod)]
