"""A command of the program: what it is for, its options, and examples."""

import inspect
from collections.abc import Sequence
from typing import Any

import click

from evenkeel_cli.program import named


class Command(click.Command):
    """A command whose docstring ends in the section ``Examples:``, one command line a line."""

    examples: Sequence[str]

    def __init__(self, name: str | None, **settings: Any) -> None:
        """Take the examples from the docstring, which click gives as ``help``."""
        docstring = inspect.cleandoc(settings.pop("help"))
        text, _, examples = docstring.partition("\n\nExamples:\n")
        super().__init__(name, help=named(text), **settings)
        self.examples = named(inspect.cleandoc(examples)).splitlines()

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples below the options, where a long help ends."""
        del ctx
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
