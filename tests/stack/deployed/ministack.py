"""An AWS on this machine: ministack in its own process, with signatures and rights verified."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from tests.kit.control_plane import ROOT
from tests.kit.processes import awaited, ended
from tests.stack.deployed.compute import Compute
from tests.stack.deployed.process import answers, free_port, plain_environment
from tests.stack.deployed.trail import Trail

REGION = "eu-central-1"
PYTHON = ROOT / ".venv-ministack" / "bin" / "python"
RUNTIME = ROOT / ".venv-runtime" / "bin" / "python"
START = Path(__file__).with_name("recorded.py")
SAM = ROOT / ".venv-sam" / "bin" / "python"
BUILT = ROOT / ".aws-sam" / "build" / "template.yaml"
DEPLOYING = 180.0

ROOT_USER = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": REGION,
}
"""Credentials of the account's owner. The functions have sessions of their roles."""


@dataclass(frozen=True, slots=True)
class Ministack:
    """Where it listens, where it writes its log, and whom its functions ask for what it lacks.

    ``trail`` tells who asked it for what.
    """

    url: str
    log: Path
    compute: Compute
    trail: Trail

    def client(self, service: str, **credentials: str) -> Any:
        """A client of the account's owner, or of whoever these credentials are."""
        return boto3.client(
            service,  # type: ignore[call-overload]  # whichever service
            region_name=REGION,
            endpoint_url=self.compute.url if service == "sqs" else self.url,
            **(
                credentials
                or {
                    "aws_access_key_id": ROOT_USER["AWS_ACCESS_KEY_ID"],
                    "aws_secret_access_key": ROOT_USER["AWS_SECRET_ACCESS_KEY"],
                }
            ),
        )

    def sam(self, *arguments: str) -> str:
        """Run sam against it; answers what it prints. Fails with that."""
        done = subprocess.run(
            [SAM, "-m", "samcli", *arguments],
            env={**plain_environment(), **ROOT_USER, "AWS_ENDPOINT_URL": self.url},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEPLOYING,
            check=False,
        )
        assert done.returncode == 0, f"sam {' '.join(arguments)}:\n{done.stdout[-4000:]}"
        return done.stdout

    def correct_mappings(self) -> None:
        """Let Lambda read queues as often as stacks say, where a parameter says it.

        CloudFormation makes a number of a parameter's text; ministack does not, and reads nothing.
        """
        client = self.client("lambda")
        for mapping in client.list_event_source_mappings()["EventSourceMappings"]:
            if (limit := mapping.get("ScalingConfig", {}).get("MaximumConcurrency")) is not None:
                client.update_event_source_mapping(
                    UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": int(limit)}
                )


@contextmanager
def launched(folder: Path) -> Iterator[Ministack]:
    """A ministack without any state, for as long as the context."""
    assert PYTHON.exists(), "there is no ministack: make venv-ministack"
    assert RUNTIME.exists(), "there is no runtime: make venv-runtime"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log, trail = folder / "ministack.log", folder / "trail.jsonl"
    environment = {
        **plain_environment(),
        **ROOT_USER,
        "AUTH": "true",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
        "S3_DATA_DIR": str(folder / "s3"),
        "STATE_DIR": str(folder / "state"),
        "TMPDIR": str(folder),
    }
    with (
        log.open("wb") as out,
        Compute(url) as compute,
        subprocess.Popen(
            [PYTHON, "-P", START, RUNTIME, trail],  # its folder has a module of that name
            env={  # functions inherit it
                **environment,
                "AWS_ENDPOINT_URL_AUTO_SCALING": compute.url,
                "AWS_ENDPOINT_URL_EC2": compute.url,
                "AWS_ENDPOINT_URL_SQS": compute.url,
            },
            cwd=folder,
            stdout=out,
            stderr=out,
        ) as process,
    ):
        try:
            awaited(process, log, lambda: answers(f"{url}/_ministack/health"))
            yield Ministack(url, log, compute, Trail(trail))
        finally:
            ended(process)


def deploy(ministack: Ministack, name: str, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Deploy what `make build` built, as docs/install.md says; the stack's outputs."""
    assert BUILT.exists(), "nothing is built: make build"
    overrides: Sequence[str] = [f"{key}={value}" for key, value in parameters.items()]
    ministack.sam(
        *("deploy", "--template-file", str(BUILT), "--stack-name", name, "--region", REGION),
        *("--resolve-s3", "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset"),
        *("--no-progressbar", "--parameter-overrides", *overrides),
    )
    ministack.correct_mappings()
    (stack,) = ministack.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    return {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
