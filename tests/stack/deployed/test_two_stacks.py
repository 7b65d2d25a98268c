"""Two clusters with a stack each, in one account and region; then one of them is removed."""

import re
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from evenkeel.model import names
from tests.e2e.manifests import deployment
from tests.kit.control_plane import ROOT
from tests.stack.deployed.conftest import Deployed, endpoint_of, knowing, stood_up
from tests.stack.deployed.gateway import Gateway, opened, reviewed_by
from tests.stack.deployed.ministack import DEPLOYING, ROOT_USER, Ministack
from tests.stack.deployed.pages import INSTALL
from tests.stack.deployed.process import plain_environment
from tests.stack.deployed.verifier import Verifier

pytestmark = pytest.mark.stack

SECOND = "evenkeel-prod"
"""As docs/install.md calls it: its commands are run as they stand there."""
TOKEN = secrets.token_hex(32)
"""The webhook's, by the parameter; the first stack has a secret."""


@pytest.fixture(scope="module")
def second(
    ministack: Ministack,
    stack: Deployed,  # noqa: ARG001 - the first
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Deployed]:
    """A second stack, for a cluster of its own; at the end it is gone."""
    folder = tmp_path_factory.mktemp("second")
    with (
        Verifier(ministack.url, "second") as verifier,
        knowing(verifier, folder, request) as control_plane,
    ):
        try:
            endpoint = endpoint_of(control_plane, "second")
            by_token = {"Webhook": "false", "WebhookToken": TOKEN}
            outputs = stood_up(SECOND, endpoint, ministack, verifier, by_token)
            yield Deployed(SECOND, "second", ministack, control_plane, outputs)
        finally:
            ministack.client("cloudformation").delete_stack(StackName=SECOND)


def schedules_of(each: Deployed) -> set[str]:
    """The names of a stack's schedules."""
    resources = each.ministack.client("cloudformation").describe_stack_resources(
        StackName=each.name
    )["StackResources"]
    kind = "AWS::Scheduler::Schedule"
    return {one["PhysicalResourceId"] for one in resources if one["ResourceType"] == kind}


def schedules(ministack: Ministack) -> set[str]:
    """The names of the schedules that there are."""
    found = ministack.client("scheduler").list_schedules()["Schedules"]
    return {each["Name"] for each in found}


@pytest.mark.nightly
def test_each_of_two_stacks_has_its_own_schedules(stack: Deployed, second: Deployed) -> None:
    first, other = schedules_of(stack), schedules_of(second)
    assert first
    assert other
    assert not first & other
    assert schedules(stack.ministack) == first | other


class Interrupted:
    """Two pods of a cluster on a spot node of its own, which is then interrupted."""

    def __init__(self, stack: Deployed, namespace: str) -> None:
        self.stack, self.namespace = stack, namespace
        self.doomed, self.instance_id = stack.add_node()
        stack.control_plane.apply(deployment("web", 2), namespace=namespace)
        stack.wait_for_pods_on(self.doomed, namespace, 2)
        self.refuge, _ = stack.add_node(spot=False)


@pytest.mark.nightly
def test_each_of_two_stacks_moves_the_pods_of_its_own_cluster(
    stack: Deployed, second: Deployed
) -> None:
    with stack.control_plane.namespace() as here, second.control_plane.namespace() as there:
        both = (Interrupted(stack, here), Interrupted(second, there))
        dead_before = [each.stack.counts("NoticeDeadLettersUrl") for each in both]
        for each in both:
            each.stack.put_event(each.instance_id)
        for each in both:
            each.stack.wait_for_pods_on(each.refuge, each.namespace, 2)
            assert each.stack.is_cordoned(each.doomed)
            each.stack.wait_until_done()
        assert [each.stack.counts("NoticeDeadLettersUrl") for each in both] == dead_before


@pytest.fixture
def gateway(second: Deployed, tmp_path: Path) -> Iterator[Gateway]:
    """Where the second cluster's API server is told to ask, as docs/placement.md says."""
    with opened(second, tmp_path) as (made, authority):
        manifest = reviewed_by(made, authority, TOKEN)
        second.control_plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(manifest))
        yield made


def documented(heading: str) -> Sequence[str]:
    """The commands under a heading of docs/install.md."""
    section = INSTALL.split(f"## {heading}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    return str(block).splitlines()


def run(command: str, second: Deployed) -> None:
    """Run a command as a person would who says yes."""
    control_plane = second.control_plane
    environment = plain_environment()
    done = subprocess.run(
        # As a module: a checkout's path may be too long for a script's first line.
        ["/bin/bash", "-c", command.replace("/bin/sam ", "/bin/python -m samcli ")],
        env={
            **environment,
            **ROOT_USER,
            "AWS_ENDPOINT_URL": second.ministack.url,
            "KUBECONFIG": str(control_plane.kubeconfig),
            "PATH": f"{control_plane.binaries}:{environment['PATH']}",
        },
        cwd=ROOT,
        input="y\n" * 9,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEPLOYING,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}"


@pytest.mark.nightly
def test_after_each_step_of_its_removal_no_pod_waits_for_a_webhook_that_is_gone(
    stack: Deployed, second: Deployed, gateway: Gateway
) -> None:
    control_plane = second.control_plane
    with control_plane.namespace() as namespace:
        control_plane.label_namespace(namespace, names.MANAGED)

        def is_asked() -> bool:
            control_plane.try_pod(namespace, dry_run=False)
            return bool(gateway.statuses)

        control_plane.wait_for("a review", is_asked)
        for command in documented("Remove by hand"):
            run(command, second)
            is_asked()

    assert set(gateway.statuses) == {200}
    assert schedules(stack.ministack) == schedules_of(stack)
    kind = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
    assert control_plane.items(*kind) == []
