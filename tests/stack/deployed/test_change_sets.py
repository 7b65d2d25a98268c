"""The stack, made, changed and removed by change sets, in turn with SAM, beside another stack."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import build
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.site import Place, Site
from evenkeel_cli.install.stacks import Deleted, Deployed, Swept
from evenkeel_cli.install.steps import Step
from tests.stack.deployed.installer import Installer
from tests.stack.deployed.ministack import REGION, Ministack, deploy
from tests.unit.cli.install.killing import gone_through

pytestmark = pytest.mark.stack

PARAMETERS = {
    "ClusterName": "sets",
    "ClusterEndpoint": "https://127.0.0.1:1",
    "ClusterCertificateAuthority": "YQ==",
    "AccessEntries": "false",
    "Mode": "act",
}
OURS = f"evenkeel-000000000000-{REGION}-an"
FIRST, SECOND = "evenkeel-first", "evenkeel-second"


@pytest.fixture(scope="module")
def made() -> Build:
    return build.made()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def keys(ministack: Ministack) -> Callable[[str], list[str]]:
    """The keys of a stack in our bucket; none where it is not there."""
    s3 = ministack.client("s3")

    def found(stack: str) -> list[str]:
        if OURS not in {each["Name"] for each in s3.list_buckets()["Buckets"]}:
            return []
        listed = s3.list_objects_v2(Bucket=OURS, Prefix=f"{stack}/").get("Contents", [])
        return [each["Key"] for each in listed]

    return found


def site(installer: Installer, stack: str, said: list[str], aws: Aws | None = None) -> Site:
    """The account; its cluster is not asked."""
    nothing = cast("Any", None)
    of = aws or Aws(REGION, installer.client)
    return Site(Place("sets", stack), of, Described(), nothing, nothing, SystemClock(), said.append)


def removed(installer: Installer, stack: str, aws: Aws) -> Sequence[Step]:
    """The steps by which a stack goes with its files."""
    of = site(installer, stack, [], aws)
    return [Deleted(of), Swept(of)]


def failing(made: Build) -> Build:
    """The same with a resource that cannot be made."""
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 99999}}
    resources = made.template["Resources"] | {"Broken": queue}
    return Build({**made.template, "Resources": resources}, made.pieces)


def test_a_stack_lives_through_kills_failures_and_other_ways_to_deploy(
    ministack: Ministack,
    installer: Installer,
    made: Build,
    said: list[str],
    keys: Callable[[str], list[str]],
) -> None:
    of = site(installer, FIRST, said)

    # Made, by a command that is killed after each call that writes.
    killed = gone_through(
        REGION,
        installer.client,
        lambda aws: [Deployed(site(installer, FIRST, said, aws), made, PARAMETERS)],
    )
    assert len([each for each in killed if each.startswith("put_object")]) == 6
    assert killed[-2:] == ["create_change_set", "execute_change_set"]
    stack = of.stack()
    assert stack is not None
    assert stack.status == "CREATE_COMPLETE"
    assert len(keys(FIRST)) == 6

    # Its bucket takes TLS alone.
    where = {"Bucket": OURS, "Key": keys(FIRST)[0]}
    with pytest.raises(ClientError, match="403"):
        installer.client("s3", installer.plain).head_object(**where)
    installer.client("s3").head_object(**where)

    # A change that fails: named, and rolled back.
    upgrade = Deployed(of, failing(made), {"Window": "50"})
    assert "  comes: Broken (AWS::SQS::Queue)" in upgrade.look()
    with pytest.raises(
        UnmetError, match=r"ROLLBACK_COMPLETE: Broken .* failed first: Invalid value"
    ):
        upgrade.do()
    assert of.stack().parameters["Window"] == "100"  # type: ignore[union-attr]
    assert Deployed(of, made, PARAMETERS).look() == []

    # SAM takes it over, and then change sets do again. What neither names stays.
    Deployed(of, made, {"Window": "50"}).do()
    deploy(ministack, FIRST, {"RestoreMoves": "9"})
    again = Deployed(of, made, {"Dashboard": "false"})
    told = again.look()
    assert any(line.startswith("  code of Layer: ") for line in told), told
    assert not any(line.startswith(("  comes", "  goes", "  changes")) for line in told), told
    again.do()
    assert again.look() == []
    parameters = of.stack().parameters  # type: ignore[union-attr]
    assert (parameters["Window"], parameters["RestoreMoves"]) == ("50", "9")
    assert parameters["Mode"] == "act"

    # Another stack's files are in the same bucket, and stay there.
    other = site(installer, SECOND, said)
    Deployed(other, made, PARAMETERS).do()
    for name in (FIRST, SECOND):
        killed = gone_through(REGION, installer.client, partial(removed, installer, name))
        assert killed[:2] == ["delete_stack", "delete_objects"]
        assert keys(name) == []
        assert bool(keys(SECOND)) == (name == FIRST)
    assert killed[2:] == ["delete_bucket"]
    assert of.stack() is None
    assert other.stack() is None


def test_what_sam_deployed_is_taken_over(
    ministack: Ministack,
    installer: Installer,
    made: Build,
    said: list[str],
    keys: Callable[[str], list[str]],
) -> None:
    """From the beginning: no file of ours is there, nor a bucket."""
    deploy(ministack, FIRST, PARAMETERS)
    of = site(installer, FIRST, said)
    queue = of.stack().id_of("NoticeQueue")  # type: ignore[union-attr]
    step = Deployed(of, made, {"Mode": "observe"})
    assert "  Mode: act -> observe" in step.look()
    step.do()
    assert step.look() == []
    assert of.stack().id_of("NoticeQueue") == queue  # type: ignore[union-attr]
    read = json.dumps(of.template())
    assert all(key in read for key in keys(FIRST) if key.endswith(".zip"))
    for removal in (Deleted(of), Swept(of)):
        removal.do()
    assert keys(FIRST) == []
