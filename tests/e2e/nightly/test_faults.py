"""Twenty nodes die at once, and something else goes wrong, too: no pod is missed."""

import random
import signal
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from evenkeel.model.instance import SPOT as OF_SPOT
from evenkeel.model.instance import Instance
from evenkeel_runtime.poll.in_process import InProcessQueue
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.nightly.between import BROKEN_OFF, EXPIRED, Between, between
from tests.e2e.reconciler_process import reconciling

pytestmark = pytest.mark.nightly

SPOT: Final = tuple(f"spot-{number:02d}" for number in range(20))
OTHERS: Final = tuple(f"own-{number}" for number in range(5))
SINGLES: Final = tuple(f"single-{number:02d}" for number in range(20))
"""Single replicas, whose budget allows no disruption."""
REPLICAS: Final = {f"web-{number}": 20 for number in range(10)} | dict.fromkeys(SINGLES, 1)
PODS: Final = sum(REPLICAS.values())
LEAD: Final = timedelta(minutes=2)
AWAY: Final = 30.0
FROZEN: Final = 50.0
"""Seconds, which are more than connections to the API server may rest (``Limits.idle``)."""
BY_THEN: Final = timedelta(seconds=90)
"""So long after the notice, and some 35 s after the process goes on, no pod is left."""

type Events = Sequence[Mapping[str, Any]]


@pytest.fixture
def warnings(site: Site) -> Events:
    """All pods are on nodes that get a warning, each of which is to be handed over."""
    site.add_nodes(*SPOT)
    site.apply(*(budget(name, minAvailable=1) for name in SINGLES))
    site.run(*(deployment(name, replicas) for name, replicas in REPLICAS.items()))
    site.add_nodes(*OTHERS, spot=False)
    return [site.warning(short) for short in SPOT]


def moved(site: Site, share: float) -> None:
    """Wait until this share of the pods was told to go."""
    wanted = share * PODS
    site.wait_for(f"{wanted:.0f} pods to go", lambda: len(site.witness.departures()) >= wanted, 150)


def none_was_missed(site: Site, warnings: Events, by: timedelta = LEAD) -> None:
    """Wait for the end, and look what came of it."""
    for name, replicas in REPLICAS.items():
        site.wait_for(f"{name} elsewhere", partial(site.is_settled, name, replicas, *OTHERS), 150)
    assert {name: site.witness.lowest(name) for name in REPLICAS} == REPLICAS
    given = max(datetime.fromisoformat(each["time"]) for each in warnings)
    assert len(site.witness.departures()) == PODS
    assert max(each.at for each in site.witness.departures()) < given + by
    assert all(site.node(short)["spec"].get("unschedulable") for short in SPOT)
    assert not any(site.released(name) for name in REPLICAS)


def test_every_message_comes_twice(
    site: Site, warnings: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Callable[..., None] = InProcessQueue.send

    def twice(*arguments: Any) -> None:
        send(*arguments)
        send(*arguments)

    monkeypatch.setattr(InProcessQueue, "send", twice)
    events = [*warnings, *warnings]
    random.Random(1).shuffle(events)  # noqa: S311 - an order, no secret
    evenkeel = site.deploy()
    evenkeel.notify(*events)
    none_was_missed(site, warnings)
    evenkeel.wait_until_at_rest()


def test_nine_of_ten_notices_are_about_other_clusters(site: Site, warnings: Events) -> None:
    foreign = [f"i-{number:017x}" for number in range(9 * len(warnings))]
    tags = {"kubernetes.io/cluster/another": "owned"}
    events = list(warnings)
    for each in foreign:
        instance = Instance(instance_id=each, state="running", tags=tags, lifecycle=OF_SPOT)
        site.instances.add(instance)
        event = site.sample("interruption-warning-terminate")
        event["detail"]["instance-id"] = each
        events.append(event | {"id": each})
    random.Random(1).shuffle(events)  # noqa: S311 - an order, no secret
    evenkeel = site.deploy()
    evenkeel.notify(*events)
    none_was_missed(site, warnings)
    evenkeel.wait_until_at_rest()
    assert evenkeel.recorder.total("NoticesForeign") == len(foreign)
    assert not any(site.is_marked(short) for short in OTHERS)


def test_its_process_is_killed_again_and_again(site: Site, warnings: Events) -> None:
    told: Events = warnings
    for share in (0.25, 0.5, 0.75):
        with reconciling(site, *told):
            moved(site, share)
        told = ()
    with reconciling(site):
        none_was_missed(site, warnings)


def test_the_api_server_is_away_for_half_a_minute(
    site: Site, warnings: Events, tmp_path: Path
) -> None:
    with (
        between(site.control_plane, tmp_path) as (way, kubeconfig),
        reconciling(site, *warnings, kubeconfig=kubeconfig),
    ):
        moved(site, 0.25)
        way.go()
        before = len(site.witness.departures())
        site.let_pass(AWAY)
        assert len(site.witness.departures()) - before < PODS / 4, "it is away"
        way.come_back()
        none_was_missed(site, warnings)


def test_a_fifth_of_all_requests_is_refused(site: Site, warnings: Events, tmp_path: Path) -> None:
    with (
        between(site.control_plane, tmp_path, share=0.2) as (way, kubeconfig),
        reconciling(site, *warnings, kubeconfig=kubeconfig),
    ):
        none_was_missed(site, warnings)
    assert min(way.wrong.values()) > 4
    assert len(way.wrong) == 7, "each way to go wrong"


def test_every_watch_breaks_off_within_a_chunk_or_has_expired(
    site: Site, warnings: Events, tmp_path: Path
) -> None:
    with (
        between(site.control_plane, tmp_path, of_watches=1.0) as (way, kubeconfig),
        reconciling(site, *warnings, kubeconfig=kubeconfig),
    ):
        none_was_missed(site, warnings)
    assert min(way.wrong[each] for each in (BROKEN_OFF, *EXPIRED)) > 10


@pytest.mark.parametrize("lose", [Between.close, Between.forget])
def test_its_process_is_frozen_and_all_its_connections_are_lost_meanwhile(
    lose: Callable[[Between], None], site: Site, warnings: Events, tmp_path: Path
) -> None:
    """Nobody else is there to go on. It is not told of connections that are forgotten."""
    with (
        between(site.control_plane, tmp_path) as (way, kubeconfig),
        reconciling(site, *warnings, kubeconfig=kubeconfig) as process,
    ):
        moved(site, 0.1)
        process.send_signal(signal.SIGSTOP)
        lose(way)
        before = len(site.witness.departures())
        site.let_pass(FROZEN)
        assert len(site.witness.departures()) - before < PODS / 4, "it is frozen"
        process.send_signal(signal.SIGCONT)
        none_was_missed(site, warnings, by=BY_THEN)
