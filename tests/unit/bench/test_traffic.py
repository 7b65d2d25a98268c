"""What sends requests, who answers them, and why one fails."""

import asyncio
import sys
import time
from typing import Any

import pytest

from bench.lab.traffic.balancers import ALB, PROXY, SLOW_ALB, Balancer, Kind, Slices
from bench.lab.traffic.kubelets import CLOSES, EXITS, SERVES, App
from bench.lab.traffic.load import NO_TARGET, REFUSED, RESET, Stream

OLD, NEW = "10.1.0.1", "10.1.0.2"


def endpoint(address: str, *, ready: bool = True) -> dict[str, Any]:
    """A pod as a slice has it; one that is not ready is on its way out, and serves on."""
    conditions = {"ready": ready, "serving": True, "terminating": not ready}
    return {"addresses": [address], "conditions": conditions}


@pytest.mark.parametrize(
    ("kind", "learns", "forgets"), [(PROXY, 0.5, 0.5), (ALB, 15.0, 0.0), (SLOW_ALB, 15.0, 3.0)]
)
def test_a_balancer_knows_late_who_came_and_who_went(
    kind: Kind, learns: float, forgets: float
) -> None:
    balancer = Balancer(kind)
    balancer.see(0.0, [endpoint(OLD)])
    assert balancer.target(learns - 0.1) is None
    assert balancer.target(learns) == OLD
    balancer.see(100.0, [endpoint(OLD, ready=False), endpoint(NEW)])
    assert balancer.target(99.9 + forgets) == OLD
    assert balancer.target(100.0 + max(learns, forgets)) == NEW
    balancer.see(200.0, [endpoint(OLD), endpoint(NEW)])
    assert {balancer.target(200.0 + learns) for _ in range(2)} == {OLD, NEW}


def test_only_a_proxy_falls_back_to_what_serves_while_it_ends() -> None:
    for kind, found in ((PROXY, OLD), (ALB, None)):
        balancer = Balancer(kind)
        balancer.see(0.0, [endpoint(OLD)])
        balancer.see(100.0, [endpoint(OLD, ready=False)])
        assert balancer.target(101.0) == found


def test_a_service_has_the_endpoints_of_all_its_slices() -> None:
    slices = Slices()
    first, second = ({"metadata": {"name": each}} for each in "ab")
    slices.see(first | {"endpoints": [endpoint(OLD)]}, gone=False)
    assert len(slices.see(second | {"endpoints": [endpoint(NEW)]}, gone=False)) == 2
    assert slices.see(first, gone=True) == [endpoint(NEW)]
    assert slices.see(second | {"endpoints": None}, gone=False) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.1 alone is there")
@pytest.mark.parametrize(
    ("host", "on_sigterm", "under_way", "afterwards"),
    [
        ("127.1.255.1", EXITS, RESET, REFUSED),
        ("127.1.255.2", CLOSES, "", REFUSED),
        ("127.1.255.3", SERVES, "", ""),
    ],
)
def test_a_request_fares_as_its_server_ends(
    host: str, on_sigterm: str, under_way: str, afterwards: str
) -> None:
    assert asyncio.run(_fared(host, on_sigterm)) == [under_way, afterwards]


def test_a_request_without_a_target_fails() -> None:
    stream = Stream("app", "ALB", lambda _: None)
    asyncio.run(stream.run(time.monotonic(), 0.08))
    assert stream.sent == 2
    assert {each.cause for each in stream.failures} == {NO_TARGET}


async def _fared(host: str, on_sigterm: str) -> list[str]:
    """Why a request failed that was under way at SIGTERM, and why one after it."""
    app = App(host, on_sigterm)
    app.start()
    try:
        first = asyncio.create_task(_asked(host))
        await asyncio.sleep(0.02)
        ending = asyncio.create_task(app.terminate())
        await asyncio.sleep(0)
        causes = [await first, await _asked(host)]
        ending.cancel()
    finally:
        app.kill()
    return causes


async def _asked(host: str) -> str:
    """Why a request fails; empty if it does not."""
    stream = Stream("app", "proxy", lambda _: host.replace("127.", "10.", 1))
    await stream.run(time.monotonic(), 0.04)
    return stream.failures[0].cause if stream.failures else ""
