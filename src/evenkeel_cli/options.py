"""Options that several commands share, with kubectl's names and meanings."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from evenkeel.settings.shared import CLUSTER_NAME
from evenkeel_cli.completing import values
from evenkeel_cli.console import standard_output
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.output import FORMATS, Output
from evenkeel_cli.source import Source
from evenkeel_cli.targets import Target

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

WAYS: Final = ("dry_run", "apply", "change_set", "render")
"""Parameters of commands of which each says what is to be done with the plan."""


def output(*, names: bool = False) -> Decorator:
    """``-o``, which gives a command its ``output``; ``names``: its items are about objects."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice([*FORMATS, *(["name"] if names else [])]),
        default=FORMATS[0],
        show_default=True,
        callback=lambda _context, _parameter, form: Output(form, standard_output()),
        help="How to print the result.",
    )


cluster_name = click.option(
    "--cluster-name",
    metavar="NAME",
    envvar=CLUSTER_NAME,
    show_envvar=True,
    help="The EKS cluster's name; else as the kubeconfig calls it.",
)
"""``--cluster-name``: what EC2's tags and the log call the cluster."""


metrics_port = click.option(
    "--metrics-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Answer GET /metrics (Prometheus) and /healthz there; 0 takes a free port.",
)
"""``--metrics-port``: where a process that goes on for long tells how it is."""


def cluster(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--context`` and ``--kubeconfig``: which cluster."""
    function = click.option(
        "--kubeconfig",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The kubeconfig file; else $KUBECONFIG, else ~/.kube/config.",
    )(function)
    return click.option(
        "--context",
        metavar="NAME",
        shell_complete=values.contexts,
        help="The kubeconfig context to use.",
    )(function)


def copy(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--snapshot`` and ``--built-in``: a cluster of which nothing is but its objects."""
    function = click.option("--built-in", is_flag=True, help="The built-in cluster of the demo.")(
        function
    )
    return click.option(
        "--snapshot",
        metavar="FILE",
        shell_complete=values.files,
        help="Objects of a cluster as kubectl prints them (-o json); - is standard input.",
    )(function)


def source(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of ``cluster`` and of ``copy``; the command is called with one ``Source``."""

    @wraps(function)
    def command(
        *,
        context: str | None,
        kubeconfig: Path | None,
        snapshot: str | None,
        built_in: bool,
        **others: Any,
    ) -> Any:
        return function(source=Source(Target(context, kubeconfig), snapshot, built_in), **others)

    return cluster(copy(command))


def namespaces(function: Callable[..., Any]) -> Callable[..., Any]:
    """``-n`` and ``-A``: of which namespaces."""
    function = click.option(
        "-A",
        "--all-namespaces",
        is_flag=True,
        help="All namespaces: the default where no cluster is asked.",
    )(function)
    return click.option(
        "-n",
        "--namespace",
        metavar="NAMESPACE",
        shell_complete=values.namespaces,
        help="This namespace, and not the context's.",
    )(function)


decisions = click.option(
    "--decisions",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the decision log to this file, as JSON lines, for history and report.",
)
"""``--decisions``: where what was decided is kept."""


def apply(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--apply``, and ``--dry-run`` for its default: nothing is written to the cluster.

    The command is called with ``apply`` alone. Raises BadInputError where two of ``WAYS`` are
    asked for.
    """

    @wraps(function)
    def command(*, dry_run: bool, **others: Any) -> Any:
        asked = {"dry_run": dry_run, **others}
        ways = [f"--{way.replace('_', '-')}" for way in WAYS if asked.get(way)]
        if len(ways) > 1:
            raise BadInputError(f"{' and '.join(ways)} contradict each other: keep one of them")
        return function(**others)

    decorated = click.option(
        "--dry-run", is_flag=True, help="Only say what would be done, which is the default."
    )(command)
    return click.option("--apply", is_flag=True, help="Do what the command says.")(decorated)
