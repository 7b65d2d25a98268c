"""Work that is started beside a session's requests."""

from datetime import timedelta

import pytest

from evenkeel.errors import InstancesError
from evenkeel.ports import Done
from tests.contract.ground import Ground

SECOND = timedelta(seconds=1)
PATIENCE = timedelta(seconds=30)


def test_a_wait_for_the_mailbox_ends_when_the_work_is_done(ground: Ground) -> None:
    def work() -> str:
        ground.clock.sleep(SECOND)
        return "done"

    with ground.cluster.session() as session:
        before = ground.clock.now()
        taken = list[str]()
        future = session.start(work, lambda each: taken.append(each.result(timeout=0)))
        assert not future.done()
        (arrival,) = session.next(PATIENCE)
        assert SECOND <= ground.clock.now() - before < PATIENCE
        assert isinstance(arrival, Done)
        assert not taken
        arrival.then()
        assert taken == ["done"]


def test_an_exception_of_the_work_is_kept_for_the_caller(ground: Ground) -> None:
    def work() -> None:
        raise InstancesError("throttled")

    with ground.cluster.session() as session:
        future = session.start(work)
        session.next(PATIENCE)
        with pytest.raises(InstancesError, match="throttled"):
            future.result(timeout=0)


def test_a_session_that_ends_does_not_wait_for_it(ground: Ground) -> None:
    before = ground.clock.now()
    with ground.cluster.session() as session:
        future = session.start(lambda: ground.clock.sleep(3 * SECOND))
    assert ground.clock.now() - before < 2 * SECOND
    ground.eventually(future.done)
