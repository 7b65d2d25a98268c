"""All commands in the groups in which ``--help`` shows them, each with what it does."""

import importlib
from collections.abc import Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "See": {
        "demo": "Show a storm of spot interruptions, without a cluster.",
        "watch": "Watch an interruption while it happens, or rehearse one.",
        "status": "Show each workload's split over spot and on-demand nodes.",
        "nodes": "Show the nodes that have to go, and how their pods go.",
        "explain": "Explain what a notice would do to a node, pod or workload.",
        "history": "Show what happened in the last interruption.",
        "replay": "Show what EC2's events would do, or do it.",
        "report": "Write an HTML page about the last interruption.",
        "simulate": "Show what many storms would do to a cluster.",
        "lint": "Check Evenkeel's labels and annotations in manifests.",
        "doctor": "Say what is broken between EC2's notice and the pod.",
    },
    "Act": {
        "drain": "Empty nodes on purpose: make before break.",
        "cancel": "Take back a notice that was wrong.",
        "restore": "Bring workloads back to their floor, and the rest to spot.",
        "pause": "Keep Evenkeel from touching a cluster.",
        "resume": "End a pause.",
    },
    "Install": {
        "install": "Install Evenkeel for an EKS cluster, or change how.",
        "upgrade": "Bring an installation to this version.",
        "uninstall": "Take Evenkeel out of a cluster and an account.",
        "rotate-token": "Give the webhook a new token, without a gap.",
        "webhook-config": "Print the webhook's configuration, filled in.",
        "headroom": "Print what keeps room free on on-demand nodes.",
        "scheduler-config": "Print the configuration of a scheduler.",
    },
    "Run": {
        "poll": "Run the functions here, fed from the SQS queues.",
        "serve": "Serve the webhook that places new pods.",
    },
    "Other": {
        "completion": "Print what makes a shell complete evenkeel's lines.",
        "version": "Print the version.",
    },
}
"""The names of commands, and a line about each, by the heading of their group.

The lines stand here and not at the commands: a module is imported when its command is needed, for
what talks to a cluster is slow to import.
"""

COMMANDS: Final[Mapping[str, str]] = {
    name: summary for group in GROUPS.values() for name, summary in group.items()
}
"""The line about each command, in the order of ``--help``."""


class Grouped(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None if there is none of this name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"evenkeel_cli.commands.{name}"), name)
        assert isinstance(command, click.Command)  # noqa: S101 - true of every command above
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command. Raises UsageError, which names commands that are called alike."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # click looks for what is alike among those that it has loaded.
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups."""
        del ctx
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", told) for name, told in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, and the program's own options."""
        return [
            *(
                CompletionItem(name, help=summary)
                for name, summary in COMMANDS.items()
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]
