"""``evenkeel resume``: the end of a pause."""

from pathlib import Path

import click

from evenkeel_cli import options, pausing
from evenkeel_cli.command import Command
from evenkeel_cli.targets import Target


@click.command(cls=Command)
@options.apply
@options.cluster
def resume(*, apply: bool, context: str | None, kubeconfig: Path | None) -> None:
    """End a pause: Evenkeel goes on with what it finds.

    It deletes the ConfigMap evenkeel-paused in the namespace evenkeel-system. The next
    scheduled run, within a minute, takes up every marked node and every released pod.

    Examples:
        evenkeel resume --apply
    """
    target = Target(context, kubeconfig)
    with target.connect() as cluster:
        present = pausing.find(cluster)
        if present is None:
            click.echo(f"{target} is not paused")
        elif not apply:
            click.echo(f"would end this pause of {target}: {present}: add --apply to do it")
        elif pausing.end(cluster, present):
            click.echo(f"{target} is not paused any more; it was {present}")
        else:
            click.echo(f"the pause of {target} was ended by another in this moment")
