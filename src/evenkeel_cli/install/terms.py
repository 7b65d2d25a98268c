"""The options that the commands share which change an installation."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import click

from evenkeel.settings.shared import CLUSTER_NAME
from evenkeel_cli import options
from evenkeel_cli.duration import Duration, short
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install.patience import LONGEST, USUAL
from evenkeel_cli.install.site import Place
from evenkeel_cli.options import Decorator
from evenkeel_cli.targets import Target


def place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which cluster and stack, and how the API server is reached: the command's ``where``."""

    @wraps(function)
    def command(  # noqa: PLR0913 - a command has as many arguments as options
        *,
        cluster: str,
        stack: str,
        endpoint: str,
        certificate_authority: Path | None,
        context: str | None,
        kubeconfig: Path | None,
        region: str,
        profile: str,
        **others: Any,
    ) -> Any:
        target = Target(context, kubeconfig)
        authority = "" if certificate_authority is None else _base64(certificate_authority)
        where = Place(cluster, stack, endpoint, authority, target, region, profile)
        return function(where=where, **others)

    return _with(_PLACE, command)


def delivery(function: Callable[..., Any]) -> Callable[..., Any]:
    """By which bucket and role the stack is changed. Stands below ``place``."""

    @wraps(function)
    def command(*, where: Place, bucket: str, role_arn: str, **others: Any) -> Any:
        return function(where=replace(where, bucket=bucket, role_arn=role_arn), **others)

    return _with(_DELIVERY, command)


change_set = click.option(
    "--change-set",
    is_flag=True,
    help="Make the stack's change set and print it, for a review; nothing is executed.",
)
"""``--change-set``: files are uploaded, a change set is made, and that is all."""


timeout = click.option(
    "--timeout",
    "patience",
    type=Duration(timedelta(seconds=1), LONGEST),
    default=short(USUAL),
    show_default=True,
    help="How long to wait for AWS and the cluster, which go on by themselves.",
)
"""``--timeout``: how long a command waits for what others do, all in all."""


def _base64(path: Path) -> str:
    """A PEM file as EKS and the stack's parameter have it. Raises BadInputError for another."""
    content = path.read_bytes()
    if b"-----BEGIN CERTIFICATE-----" not in content:
        raise BadInputError(
            f"--certificate-authority {path}: there is no certificate in it, as PEM"
        )
    return b64encode(content).decode()


def _with(options: tuple[Decorator, ...], command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(options):
        command = decorate(command)
    return command


_PLACE: tuple[Decorator, ...] = (
    click.option(
        "--cluster-name",
        "cluster",
        metavar="NAME",
        required=True,
        envvar=CLUSTER_NAME,
        show_envvar=True,
        help="The EKS cluster.",
    ),
    click.option(
        "--stack-name",
        "stack",
        metavar="NAME",
        default="",
        help="Its stack; else evenkeel-CLUSTER.",
    ),
    click.option(
        "--server",
        "endpoint",
        metavar="URL",
        default="",
        help="The API server as functions reach it; else the endpoint that EKS names.",
    ),
    click.option(
        "--certificate-authority",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Its certificate authority, PEM; else the one that EKS names.",
    ),
    click.option(
        "--region", metavar="REGION", default="", help="The AWS region; else AWS_REGION's."
    ),
    click.option(
        "--profile",
        metavar="NAME",
        default="",
        help="A profile of AWS's configuration; else AWS_PROFILE's.",
    ),
    options.cluster,
)

_DELIVERY: tuple[Decorator, ...] = (
    click.option(
        "--bucket",
        metavar="NAME",
        default="",
        help="A bucket of the account for the stack's files; else as before, at first one of ours.",
    ),
    click.option(
        "--role-arn",
        metavar="ARN",
        default="",
        help="The role with which CloudFormation works; else as before, at first your own.",
    ),
)
