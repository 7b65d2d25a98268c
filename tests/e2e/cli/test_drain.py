"""``evenkeel drain`` as a person runs it, on the real control plane, without and with functions."""

import signal
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.model import names
from evenkeel.model.hook import Hook
from evenkeel.model.notice import NodeNotice, NoticeKind
from tests.e2e.application import HOOK
from tests.e2e.cli.commands import evenkeel, started
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.kit.auto_scaling import REGION, StubAutoScaling
from tests.kit.manifests import SYSTEM

pytestmark = pytest.mark.controlplane


def test_a_node_is_emptied_without_a_gap_and_keeps_its_cordon(site: Site) -> None:
    site.add_nodes("a")
    site.apply(budget("guarded", minAvailable=1))
    site.run(deployment("web", 4), deployment("guarded", 1), stateful_set("db", 1))
    site.add_nodes("b", spot=False)

    done = evenkeel(site.control_plane, "drain", site.node_name("a"), "--apply")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith(
        "1 node drained; the cordon stays: kubectl uncordon NODE ends it.\n"
    )
    assert "DrainAsked" in done.stdout
    assert "ReplacementAvailable" in done.stdout
    node = site.node("a")
    assert node["spec"]["unschedulable"]
    assert not site.is_marked("a")
    for name, replicas in {"web": 4, "guarded": 1}.items():
        assert site.witness.lowest(name) == replicas
        assert site.is_settled(name, replicas, "b")


def test_the_next_run_goes_on_where_ctrl_c_ended_the_first(site: Site) -> None:
    site.add_nodes("a")
    site.run(deployment("web", 4, start="8s"))
    site.add_nodes("b", spot=False)
    arguments = ("drain", site.node_name("a"), "--apply")

    with started(site.control_plane, *arguments) as process:
        site.wait_for_releases("web")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=180)
    assert process.returncode == 130
    assert err.startswith("note: interrupted: marks and releases stay")
    assert "Traceback" not in err
    assert site.is_marked("a")

    done = evenkeel(site.control_plane, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.witness.lowest("web") == 4


def test_what_is_in_an_empty_dir_is_deleted_only_where_that_is_said(site: Site) -> None:
    scratch = [{"name": "scratch", "emptyDir": {}}]
    site.add_nodes("a")
    site.run(deployment("web", 1, volumes=scratch), stateful_set("db", 1, volumes=scratch))
    site.add_nodes("b", spot=False)
    node = site.node_name("a")

    planned = evenkeel(site.control_plane, "drain", node)
    refused = evenkeel(site.control_plane, "drain", node, "--apply")

    assert planned.returncode == 0
    for told in (planned.stderr, refused.stderr):
        assert f"{site.namespace}/web-" in told
        assert f"{site.namespace}/db-0" in told
        assert "--delete-emptydir-data" in told
    assert refused.returncode == 2
    assert "unschedulable" not in site.node("a")["spec"]

    done = evenkeel(site.control_plane, "drain", node, "--apply", "--delete-emptydir-data")
    assert (done.returncode, done.stderr) == (0, "")
    assert site.is_settled("web", 1, "b")
    site.wait_for("the ordinal to run on b", partial(site.is_settled, "db", 1, "b"))


def test_a_node_with_a_young_ordinal_alone_is_drained(site: Site) -> None:
    site.add_nodes("a")
    site.run(stateful_set("db", 1))
    site.add_nodes("b", spot=False)
    done = evenkeel(site.control_plane, "drain", site.node_name("a"), "--apply")
    assert done.returncode == 0, done.stdout + done.stderr
    site.wait_for("the ordinal to run on b", partial(site.is_settled, "db", 1, "b"))


def test_beside_deployed_functions_it_only_marks_and_they_do_all_the_rest(site: Site) -> None:
    """Meanwhile an Auto Scaling group waits, which only the functions can tell to go on."""
    group = StubAutoScaling()
    group.put_hook("workers", HOOK, 300, 3600)
    site.control_plane.apply(SYSTEM)  # the schedule notes there that it comes
    site.add_nodes("a", "c")
    site.run(deployment("web", 2))
    site.add_nodes("b", spot=False)
    functions = site.deploy(lifecycle=AutoScaling(REGION, group.client()))
    functions.schedule()
    functions.wait_until_at_rest()
    pods = [pod["metadata"]["name"] for pod in site.pods_on("a")]

    with started(site.control_plane, "drain", site.node_name("a"), "--apply") as process:
        site.wait_for("the node to be marked", lambda: site.is_marked("a"))
        site.let_pass(6)
        assert [pod["metadata"]["name"] for pod in site.pods_on("a")] == pods
        assert not site.released("web")
        event = site.sample("lifecycle-action-terminate")
        event["detail"]["EC2InstanceId"] = site.instance_id("c")
        token = event["detail"]["LifecycleActionToken"]
        group.begin("workers", HOOK, token, site.instance_id("c"))
        functions.notify(event)
        out, err = process.communicate(timeout=180)

    def actions() -> list[str]:
        return [asked["Action"] for asked in group.requests]

    assert process.returncode == 0, out + err
    assert "DrainAsked" in out
    assert err.startswith("note: the deployed functions hand over")
    site.wait_for("the group to be told to go on", lambda: "CompleteLifecycleAction" in actions())
    assert site.witness.lowest("web") == 2
    assert site.is_settled("web", 2, "b")


def test_without_functions_it_says_which_lifecycle_hook_nobody_completes(site: Site) -> None:
    site.add_nodes("a", "c")
    now = site.clock.now()
    notice = NodeNotice(
        kind=NoticeKind.INTERRUPTION,
        event_id="event",
        deadline=now + timedelta(hours=1),
        since=now,
        hook=Hook(group="workers", name=HOOK, token="token"),
    )
    mark = {
        "labels": {names.DOOMED: notice.name},
        "annotations": {names.NOTICE: msgspec.json.encode(notice).decode()},
    }
    site.merge("v1", "Node", site.node_name("c"), {"metadata": mark})

    done = evenkeel(site.control_plane, "drain", site.node_name("a"), "--apply")

    assert done.returncode == 0, done.stdout
    assert f"the Auto Scaling group workers waits for {site.node_name('c')}" in done.stderr
