"""README's ways of use by SAM: deploy, and `sam local invoke -e` with the files of events/."""

import base64
import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.docs.ways import blocks
from tests.kit.api_server import ScriptedServer, serving
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import REGION
from tests.stack.deployed.containers import Engine, engine
from tests.stack.deployed.ministack import ROOT_USER, SAM, Ministack
from tests.stack.deployed.process import plain_environment
from tests.unit.handlers.test_functions import quiet

pytestmark = pytest.mark.stack

INVOKING = 180.0


@pytest.fixture(scope="module")
def docker(ministack: Ministack) -> Iterator[Engine]:
    """An engine whose containers find EC2 on this machine."""
    with engine({"AWS_ENDPOINT_URL_EC2": ministack.compute.url}) as started:
        yield started


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScriptedServer, str]]:
    """A cluster without nodes and pods, and how SAM's parameters name it."""
    authority = Authority(key_identifiers=False)
    folder = tmp_path_factory.mktemp("api")
    with serving(authority.server_context(folder, "127.0.0.1")) as server:
        server.script(always=quiet)
        ca = base64.b64encode(authority.certificate.encode()).decode()
        yield (
            server,
            f"ClusterName=prod ClusterEndpoint={server.url} ClusterCertificateAuthority={ca}",
        )


def invoked(command: Sequence[str], docker: Engine) -> tuple[Any, str]:
    """What the function answers, and what is printed beside it."""
    sam, *arguments = command
    assert sam == "sam"
    done = subprocess.run(
        [SAM, "-m", "samcli", *arguments, "--region", REGION],
        env={**plain_environment(), **ROOT_USER, "DOCKER_HOST": docker.url},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INVOKING,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1]), done.stderr


def line_of(way: str, beginning: str, cluster: str) -> Sequence[str]:
    """The words of a line in README's block, with this cluster."""
    (line,) = (each for each in blocks()[way].splitlines() if each.startswith(beginning))
    return [each.replace("$cluster", cluster) for each in shlex.split(line)]


def test_readmes_line_deploys_the_stack(
    ministack: Ministack, api: tuple[ScriptedServer, str]
) -> None:
    """In an account that knows no access entries, as ministack's."""
    _, *words = line_of("deploy", "sam deploy ", f"{api[1]} AccessEntries=false")
    name = words[words.index("--stack-name") + 1]
    ministack.sam(*words, "--region", REGION)
    cloud = ministack.client("cloudformation")
    (stack,) = cloud.describe_stacks(StackName=name)["Stacks"]
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert (given["ReservedConcurrency"], given["ClusterName"]) == ("none", "prod")
    assert any(each["OutputKey"] == "NoticeQueueUrl" for each in stack["Outputs"])
    cloud.delete_stack(StackName=name)


def test_readmes_line_hands_a_batch_to_the_function(
    docker: Engine, api: tuple[ScriptedServer, str]
) -> None:
    command = line_of("replay", "sam local ", api[1])

    answer, log = invoked(command, docker)

    assert answer == {"batchItemFailures": []}, log
    assert '"reason":"Harmless"' in log
    assert '"name":"i-1234567890abcdef0"' in log


@pytest.mark.parametrize(
    ("function", "event"),
    [
        ("InterruptionFunction", "interruption-warning-terminate"),
        ("HandoverFunction", "lambda/schedule"),
        ("RestoreFunction", "lambda/schedule"),
    ],
)
def test_a_function_takes_an_event_that_no_queue_hands_out(
    function: str, event: str, docker: Engine, api: tuple[ScriptedServer, str]
) -> None:
    command = ["sam", "local", "invoke", function, "-e", f"events/{event}.json"]
    answer, log = invoked([*command, "--parameter-overrides", api[1]], docker)
    assert answer == {}, log
