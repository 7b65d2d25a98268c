"""``evenkeel poll``: real queues, the real command, the real control plane."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_cli.history import incident as history
from evenkeel_cli.history.reading import read_files
from tests.e2e.accounts import applied, kubeconfig_of
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.e2e.polling import COMMAND, polling
from tests.kit import moto_server as aws
from tests.kit.http_server import Answer, HttpServer, Request
from tests.kit.manifests import Manifest
from tests.kit.moto_server import Aws

pytestmark = pytest.mark.controlplane


@pytest.fixture
def queues() -> Iterator[Aws]:
    """EC2 and SQS, with the stack's two queues."""
    with aws.started() as stand_in:
        yield stand_in


THREE_PODS_EACH = """
from evenkeel.settings import HandoverSettings
HandoverSettings.__init__.__kwdefaults__["pods_each"] = 3
from evenkeel_cli.main import main
main()
"""
"""The command, which shares a storm of more than three pods."""


SOON_QUIET = """
from datetime import timedelta
from evenkeel.model import interruption
interruption.QUIET = timedelta(seconds=3)
from evenkeel_cli.main import main
main()
"""
"""The command, for which an interruption is over after three quiet seconds."""


SET_CLOCK = """
import os, sys
from datetime import timedelta
from evenkeel.adapters.clock import SystemClock
now, by, sign = SystemClock.now, timedelta(hours=int(sys.argv.pop(1))), sys.argv.pop(1)
SystemClock.now = lambda self: now(self) + (by if os.path.exists(sign) else timedelta())
from evenkeel_cli.main import main
main()
"""
"""The command on a machine whose clock is set by so many hours once there is a file."""


NO_FILES = ("bash", "-c", 'exec > >(cat) 2>&1; ulimit -f 0; exec "$0" "$@"', *COMMAND)
"""The command where each write to a file fails: the container's disk is read-only."""


NO_READER = ("bash", "-c", 'exec > >(sed -u "/ the cluster /q"); exec "$0" "$@"', *COMMAND)
"""The command with a pipe for its log, whose reader goes when it has begun."""


def doomed_node(site: Site, queues: Aws, *others: Manifest) -> tuple[str, str]:
    """An instance with a node of its name, where a single replica behind a budget runs."""
    (instance_id,) = queues.launch(1)
    name = queues.dns_names([instance_id])[instance_id]
    provider_id = f"aws:///eu-central-1a/{instance_id}"
    site.control_plane.add_node(name, spot=True, provider_id=provider_id)
    site.apply(budget("web", minAvailable=1))
    site.run(deployment("web", 1), *others)
    site.add_nodes("b", spot=False)
    return instance_id, name


@pytest.mark.parametrize("wake_ups", ["in the process", "in SQS"])
def test_a_notice_from_sqs_is_acted_on_and_sigterm_ends_it(
    site: Site, queues: Aws, tmp_path: Path, wake_ups: str
) -> None:
    instance_id, name = doomed_node(site, queues)
    options = ["--decisions", str(tmp_path / "decisions")]
    options += ["--wake-up-queue-url", queues.wake_up_queue] if wake_ups == "in SQS" else []
    with polling(site.control_plane, queues, tmp_path / "log", *options) as poll:
        queues.send(["{", aws.warning(instance_id, datetime.now(UTC))])  # noqa: TID251 - EC2's
        site.wait_for("all to run on b", lambda: site.is_settled("web", 1, "b"))
        assert poll.end() == 0
    assert site.witness.lowest("web") == 1
    lines = poll.told.splitlines()
    assert lines[0].endswith("visibility 30 s, after 100 receives to notices-dead)")
    assert any(f"mark       node {name}: SpotInterruption" in line for line in lines)
    assert any(" evict      pod " in line and "ReplacementAvailable" in line for line in lines)
    assert lines[-1].endswith(" ended")
    assert queues.left()["notices"] == 1  # the one that is no notice goes its way to the dead ones
    incident = history.of(read_files([str(tmp_path / "decisions")]).records)
    assert incident is not None
    assert [node.name for node in incident.nodes] == [name]
    (web,) = incident.workloads
    assert (web.subject.name, web.wanted, web.lowest, web.most_beside) == ("web", 1, 1, 1)


def test_a_url_is_told_when_an_interruption_begins_and_when_it_is_over(
    site: Site, queues: Aws, tmp_path: Path
) -> None:
    """The warning is late, so that its deadline is near; the URL does not answer at first."""
    instance_id, name = doomed_node(site, queues)
    told: list[dict[str, Any]] = []
    answers = iter([500])

    def take(request: Request) -> Answer:
        status = next(answers, 200)
        if status == HTTPStatus.OK:
            told.append(request.json)
        return Answer(status=status)

    command = (sys.executable, "-c", SOON_QUIET)
    with HttpServer(take) as server:
        options = ["--notify-url", f"{server.url}/services/secret"]
        with polling(
            site.control_plane, queues, tmp_path / "log", *options, command=command
        ) as poll:
            at = SystemClock().now() - timedelta(seconds=95)
            queues.send([aws.warning(instance_id, at)])
            site.wait_for("all to run on b", lambda: site.is_settled("web", 1, "b"))
            site.wait_for("both to be told", lambda: len(told) == 2, seconds=150)
            assert poll.end() == 0
    assert [each["phase"] for each in told] == ["began", "over"]
    assert told[0]["id"] == told[1]["id"]
    assert told[0]["node_names"] == told[1]["node_names"] == [name]
    assert (told[1]["pods"], told[1]["late"], told[1]["below"]) == (1, 0, 0)
    assert "127.0.0.1 answered 500" in poll.told
    assert "secret" not in poll.told


def test_every_notice_is_acted_on_when_the_log_cannot_be_written(
    site: Site, queues: Aws, tmp_path: Path
) -> None:
    called = queues.nodes(8)
    for instance_id, name in called.items():
        provider_id = f"aws:///eu-central-1a/{instance_id}"
        site.control_plane.add_node(name, spot=True, provider_id=provider_id)
    with polling(site.control_plane, queues, tmp_path / "log", command=NO_READER) as poll:
        for instance_id in called:
            queues.send([aws.warning(instance_id, SystemClock().now())])

        def is_marked(name: str) -> bool:
            labels = site.control_plane.get("v1", "Node", name)["metadata"]["labels"]
            return names.DOOMED in labels

        site.wait_for("all nodes to be marked", lambda: all(map(is_marked, called.values())))
        assert poll.told.splitlines()[-1].endswith("the log cannot be written: Broken pipe")


@pytest.mark.parametrize("hours", [-1, pytest.param(1, marks=pytest.mark.nightly)])
def test_all_pods_move_in_time_when_the_clock_is_set_meanwhile(
    site: Site, queues: Aws, tmp_path: Path, hours: int
) -> None:
    instance_id, name = doomed_node(site, queues, deployment("slow", 4, start="8s"))
    sign = tmp_path / "set"
    command = (sys.executable, "-c", SET_CLOCK, str(hours), str(sign))
    with polling(site.control_plane, queues, tmp_path / "log", command=command) as poll:
        queues.send([aws.warning(instance_id, SystemClock().now())])
        site.wait_for("a pod to be released", lambda: site.released("slow"))
        sign.touch()
        for workload, size in (("web", 1), ("slow", 4)):
            settled = partial(site.is_settled, workload, size, "b")
            site.wait_for(f"{workload} to run on b", settled, seconds=60)
        assert poll.end() == 0
    assert (site.witness.lowest("web"), site.witness.lowest("slow")) == (1, 4)
    assert f"node {name}" in poll.told


@pytest.mark.usefixtures("rights")
def test_its_account_in_the_cluster_may_do_all_that_it_does_and_it_tells_how_it_is(
    site: Site, queues: Aws, tmp_path: Path
) -> None:
    """A process plays the container: nothing here runs images."""
    plane = site.control_plane
    instance_id, _ = doomed_node(site, queues)
    with applied(plane, "poll"):
        account = kubeconfig_of(plane, "evenkeel-poll", tmp_path)
        options = ("--metrics-port", "0")
        with polling(
            plane,
            queues,
            tmp_path / "log",
            *options,
            kubeconfig=account,
            command=NO_FILES,
        ) as poll:
            site.wait_for("its metrics' port", lambda: "serves metrics on port" in poll.told)
            assert poll.asked("/healthz") == "ok\n"
            queues.send([aws.warning(instance_id, SystemClock().now())])
            site.wait_for("all to run on b", lambda: site.is_settled("web", 1, "b"))
            counted = 'evenkeel_pods_handed_over_total{cluster="storm"} 1.0'
            site.wait_for("it is counted", lambda: counted in poll.asked("/metrics"))
            assert 'evenkeel_cluster_forbidden_total{cluster="storm"} 0.0' in poll.asked("/metrics")
            assert poll.end() == 0
        assert "forbidden" not in poll.told.lower()
    assert site.witness.lowest("web") == 1


def test_processes_of_its_own_share_a_large_storm(site: Site, queues: Aws, tmp_path: Path) -> None:
    instance_ids = queues.launch(2)
    called = queues.dns_names(instance_ids)
    for instance_id in instance_ids:
        provider_id = f"aws:///eu-central-1a/{instance_id}"
        site.control_plane.add_node(called[instance_id], spot=True, provider_id=provider_id)
    sizes = {f"w{number}": 2 for number in range(5)}
    site.run(*(deployment(name, size) for name, size in sizes.items()))
    site.add_nodes("b", spot=False)
    command = (sys.executable, "-c", THREE_PODS_EACH)
    with polling(site.control_plane, queues, tmp_path / "log", command=command) as poll:
        at = SystemClock().now()
        queues.send([aws.warning(instance_id, at) for instance_id in instance_ids])
        site.wait_for(
            "all to run on b",
            lambda: all(site.is_settled(name, size, "b") for name, size in sizes.items()),
        )
        assert poll.end() == 0
    assert {name: site.witness.lowest(name) for name in sizes} == sizes
    began = [line for line in poll.told.splitlines() if "acts on the cluster storm" in line]
    assert len(began) >= 2, poll.told
