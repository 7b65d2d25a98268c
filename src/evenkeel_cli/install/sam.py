"""SAM, which builds, packages, deploys and deletes the stack: as a person would run it."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from evenkeel_cli.errors import UnmetError
from evenkeel_hosting.files import ROOT

BUILDING: Final = timedelta(minutes=15)
"""The first time it makes SAM's environment, too."""
DEPLOYING: Final = timedelta(minutes=40)
BUILT: Final = ROOT / ".aws-sam" / "build" / "template.yaml"
SAM: Final = (str(ROOT / ".venv-sam" / "bin" / "python"), "-m", "samcli")


def build() -> None:
    """Build functions and layer into .aws-sam/build. Raises UnmetError."""
    _run(("make", "--no-print-directory", "build"), BUILDING, "make build")


def deploy(stack: str, region: str, parameters: Mapping[str, str]) -> None:
    """Make the stack or change it; parameters that are not named stay. Raises UnmetError."""
    _run(
        (
            *(*SAM, "deploy", "--template-file", str(BUILT), "--stack-name", stack),
            *("--region", region, "--resolve-s3", "--capabilities", "CAPABILITY_IAM"),
            *("--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar"),
            *("--parameter-overrides", *(f"{key}={_quoted(v)}" for key, v in parameters.items())),
        ),
        DEPLOYING,
        "sam deploy",
    )


def package(region: str, bucket: str, template: Path) -> None:
    """Upload the build to a bucket, and write the template that names it. Raises UnmetError."""
    _run(
        (
            *(*SAM, "package", "--template-file", str(BUILT), "--region", region),
            *("--s3-bucket", bucket, "--output-template-file", str(template)),
            "--no-progressbar",
        ),
        DEPLOYING,
        "sam package",
    )


def delete(stack: str, region: str) -> None:
    """Delete the stack, and what was uploaded for it. Raises UnmetError."""
    _run(
        (*SAM, "delete", "--stack-name", stack, "--region", region, "--no-prompts"),
        DEPLOYING,
        "sam delete",
    )


def _run(command: Sequence[str], longest: timedelta, name: str) -> None:
    """Run it with its output on standard error: standard output is the command's own."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and arguments of our own
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            timeout=longest.total_seconds(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnmetError(f"{name} did not end within {longest}") from None
    except OSError as error:
        raise UnmetError(f"{name} cannot be run: {error}") from error
    if done.returncode != 0:
        raise UnmetError(f"{name} failed (exit code {done.returncode}): its output says why")


def _quoted(value: str) -> str:
    """As SAM reads it: a value with blanks needs quotes, one without may be empty."""
    return f'"{value}"' if not value or " " in value else value
