"""The options that the commands share which change an installation."""

from collections.abc import Callable
from typing import Any

import click

from cli import options
from cli.options import Decorator


def place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Which cluster and stack, and how the API server is reached."""
    for decorate in reversed(_PLACE):
        function = decorate(function)
    return function


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
