"""``evenkeel completion``: what makes a shell complete the program's lines."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from evenkeel_cli.command import Command
from evenkeel_cli.program import ASKED_BY

SHELLS: Final = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script by which a shell completes commands, options and values of evenkeel.

    Values are the contexts of the kubeconfig, and namespaces, nodes and workloads of the cluster,
    as far as it answers within a second. bash has to be 4.4 or newer. Lines of kubectl evenkeel
    are completed by kubectl, which needs its own script alone.

    Examples:
        source <(evenkeel completion bash)
        evenkeel completion fish > ~/.config/fish/completions/evenkeel.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None  # noqa: S101 - click has one for each of SHELLS
    click.echo(complete(context.find_root().command, {}, "evenkeel", ASKED_BY).source(), nl=False)
