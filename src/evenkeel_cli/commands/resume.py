"""``evenkeel resume``: the end of a pause."""

from pathlib import Path

import click

from evenkeel_cli import options, pausing
from evenkeel_cli.command import Command
from evenkeel_cli.output import Output
from evenkeel_cli.pausing import PauseList
from evenkeel_cli.targets import Target


@click.command(cls=Command)
@options.apply
@options.cluster
@options.output(names=True)
def resume(*, apply: bool, context: str | None, kubeconfig: Path | None, output: Output) -> None:
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
            output.say(f"{target} is not paused")
        elif not apply:
            output.say(f"would end this pause of {target}: {present}: add --apply to do it")
        elif pausing.end(cluster, present):
            output.say(f"{target} is not paused any more; it was {present}")
        else:
            output.say(f"the pause of {target} was ended by another in this moment")
    output.dump(PauseList(items=[present] if present is not None else []))
