"""The options that the commands share which change an installation."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from evenkeel_cli import options
from evenkeel_cli.install.site import Place
from evenkeel_cli.options import Decorator
from evenkeel_cli.targets import Target


def place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which cluster and stack, and how the API server is reached: the command's ``where``."""

    @wraps(function)
    def command(
        *,
        cluster: str,
        stack: str,
        endpoint: str,
        certificate_authority: str,
        context: str | None,
        kubeconfig: Path | None,
        **others: Any,
    ) -> Any:
        target = Target(context, kubeconfig)
        where = Place(cluster, stack, endpoint, certificate_authority, target)
        return function(where=where, **others)

    decorated: Callable[..., Any] = command
    for decorate in reversed(_PLACE):
        decorated = decorate(decorated)
    return decorated


_PLACE: tuple[Decorator, ...] = (
    click.option("--cluster", metavar="NAME", required=True, help="The EKS cluster."),
    click.option("--stack", metavar="NAME", default="", help="Its stack; else evenkeel-CLUSTER."),
    click.option(
        "--endpoint",
        metavar="URL",
        default="",
        help="The API server as functions reach it; else as EKS tells.",
    ),
    click.option(
        "--certificate-authority",
        metavar="BASE64",
        default="",
        help="Its certificate authority, base64 of PEM; else as EKS tells.",
    ),
    options.cluster,
)
