"""Time and fate of requests."""

from datetime import timedelta

import pytest

from evenkeel.errors import ThrottledError, UnavailableError
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Get, Patch, Request
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.session import Result
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import SECOND, Scene, workload

LATENCY = timedelta(milliseconds=10)


def scene(**options: float) -> Scene:
    made = Scene(0, SimulatorOptions(latency=LATENCY, **options))  # type: ignore[arg-type]  # a test names them
    made.cluster.apply(resource("ConfigMap", "x", "shop"))
    return made


def count(value: str) -> Patch:
    return Patch(ConfigMap, "x", {"data": {"count": value}}, "shop")


def stored(of: Scene) -> str:
    return str(of.one("ConfigMap")["data"]["count"])


def test_requests_go_side_by_side_as_far_as_the_capacity_allows() -> None:
    stage = scene(capacity=4)
    before = stage.clock.now()
    stage.cluster.perform([Get(ConfigMap, "x", "shop")] * 8)
    assert stage.clock.now() - before == 2 * LATENCY


def test_the_server_takes_so_many_requests_a_second_when_it_is_limited() -> None:
    stage = scene(requests_per_second=100)
    before = stage.clock.now()
    stage.cluster.perform([Get(ConfigMap, "x", "shop")] * 51)
    assert stage.clock.now() - before == LATENCY + timedelta(seconds=0.5)


def test_a_wait_returns_at_once_what_is_in_the_mailbox() -> None:
    stage = scene()
    with stage.cluster.session() as session:
        session.submit(Get(ConfigMap, "x", "shop"))
        assert session.in_flight == 1
        stage.wait(1)
        before = stage.clock.now()
        assert len(session.next(SECOND)) == 1
        assert stage.clock.now() == before
        assert session.in_flight == 0


def test_time_passes_even_when_a_loop_only_looks() -> None:
    stage = scene()
    with stage.cluster.session() as session:
        session.submit(Get(ConfigMap, "x", "shop"))
        looks = 0
        while not session.next(timedelta()):
            looks += 1
            assert looks < 1000


def test_a_killed_process_sends_nothing_more() -> None:
    """What it had sent before is carried out; what was still queued behind that is not."""
    stage = scene(capacity=1)

    def work() -> None:
        with stage.cluster.session() as session:
            for i in range(3):
                session.submit(count(str(i)))
            session.next(10 * SECOND)
            raise AssertionError("it was killed")

    process = stage.clock.start(work)
    stage.clock.advance(LATENCY / 2)
    process.kill()
    stage.wait(1)
    assert stored(stage) == "0"


def test_a_killed_process_cannot_clean_up() -> None:
    stage = scene()

    def work() -> None:
        try:
            stage.clock.sleep(10 * SECOND)
        finally:
            stage.cluster.perform([count("cleaned up")])

    process = stage.clock.start(work)
    stage.wait(1)
    process.kill()
    stage.wait(1)
    assert "data" not in stage.one("ConfigMap")


def test_an_interceptor_can_refuse_a_request_before_it_is_carried_out() -> None:
    stage = scene()

    def busy(_request: Request, _proceed: object) -> Result:
        raise ThrottledError("too much to do", retry_after=2)

    stop = stage.cluster.intercept(busy)
    (reply,) = stage.cluster.perform([count("1")])
    assert isinstance(reply.error, ThrottledError)
    assert "data" not in stage.one("ConfigMap")
    stop()
    (reply,) = stage.cluster.perform([count("1")])
    assert reply.error is None


def test_an_interceptor_can_lose_the_answer_of_a_request_that_was_carried_out() -> None:
    stage = scene()

    def lost(_request: Request, proceed: object) -> Result:
        assert callable(proceed)
        proceed()
        raise UnavailableError("connection reset")

    stage.cluster.intercept(lost)
    (reply,) = stage.cluster.perform([count("1")])
    assert isinstance(reply.error, UnavailableError)
    assert stored(stage) == "1"


def test_two_runs_are_the_same_when_their_seed_is() -> None:
    def run(seed: int) -> list[object]:
        stage = Scene(3, SimulatorOptions(seed=seed))
        stage.cluster.apply(workload("Deployment", "web", replicas=6))
        stage.wait(20)
        stage.cluster.scale("Deployment", "web", "shop", 3)
        stage.wait(20)
        return [
            (p["metadata"]["name"], p["metadata"]["uid"], p["spec"]["nodeName"], p["status"])
            for p in stage.pods()
        ]

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize("capacity", [1, 3, 50])
def test_replies_stand_in_the_order_of_the_requests(capacity: int) -> None:
    stage = scene(capacity=capacity)
    requests = [count(str(i)) for i in range(9)]
    replies = stage.cluster.perform(requests)
    assert [reply.request for reply in replies] == requests
