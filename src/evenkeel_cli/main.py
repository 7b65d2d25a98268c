"""The entry of the command ``evenkeel``, or ``kubectl evenkeel``: finds, translates errors, exits.

An error is one line on standard error, ``error: <what is wrong>: <the remedy>``. The exit codes are
those of ``errors.Exit``.
"""

import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

import click
from click.shell_completion import add_completion_class

import evenkeel
from evenkeel.errors import EvenkeelError, ForbiddenError, SettingsError
from evenkeel_cli.completing.bash import Bash
from evenkeel_cli.errors import CommandError, Exit, UnmetError
from evenkeel_cli.groups import Grouped
from evenkeel_cli.program import ASKED_BY, NAME
from evenkeel_cli.visible import visible

add_completion_class(Bash)

EXPECTED: Final = (
    click.ClickException,
    click.exceptions.Exit,
    click.Abort,
    CommandError,
    EvenkeelError,
)
"""Errors that are translated below."""

RBAC_REFUSES: Final = re.compile(r"\bcannot (\w+) resource\b")
"""How the API server words it; admission, which refuses with 403 as well, words it otherwise."""


class Commands(Grouped):
    """The group of all commands, which turns every error into one line and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **settings: Any) -> Any:
        """Run a command and leave the process with its exit code."""
        settings |= {"prog_name": NAME, "complete_var": ASKED_BY, "standalone_mode": False}
        sys.exit(self._run(args, settings))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command.

        A reader that goes away (head, less) has had what it wanted: no word of that. An error
        that is none of ours is told in one line, unless its traceback is asked for.
        """
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.UNREAD
        except Exception as error:
            if ctx.params["traceback"] or isinstance(error, EXPECTED):
                raise
            name = type(error).__name__
            raise UnmetError(
                f"this should not happen ({name}: {error}): run {NAME} --traceback with the"
                " same arguments, and report what it prints"
            ) from error
        return result

    def _run(self, args: Sequence[str] | None, settings: dict[str, Any]) -> int:
        try:
            code = super().main(args, **settings)
        except click.Abort:
            return Exit.INTERRUPTED
        except click.UsageError as error:
            return _fail(_usage(error), code=Exit.BAD_INPUT)
        except click.ClickException as error:
            return _fail(error.format_message(), code=Exit.BAD_INPUT)
        except CommandError as error:
            return _fail(str(error), code=error.code)
        except SettingsError as error:
            return _fail(str(error), code=Exit.BAD_INPUT)
        except EvenkeelError as error:
            return _fail(f"{error}: {_remedy(error)}", code=Exit.UNMET)
        return code if isinstance(code, int) else Exit.DONE


def _remedy(error: EvenkeelError) -> str:
    """What helps against an error of the cluster; of one that RBAC refuses, which role to apply."""
    refused = RBAC_REFUSES.search(str(error)) if isinstance(error, ForbiddenError) else None
    if refused is None:
        return "see whether the cluster answers, and whether you may"
    if refused[1] in ("get", "list", "watch"):
        return "kubectl apply -k manifests/viewer gives that to the group evenkeel-viewers"
    return "kubectl apply -k manifests/rbac gives that to the group evenkeel-handover"


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx is not None else NAME
    message = error.format_message().replace(". (", " (").rstrip(".")
    return f"{message}{' See' if message.endswith('?') else ': see'} {command} --help"


def _fail(message: str, *, code: int) -> int:
    line = visible(" ".join(message.split()))
    click.echo(f"error: {line}", err=True)
    return code


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    evenkeel.__version__, message="%(prog)s %(version)s", help="Print the version."
)
@click.option("--traceback", is_flag=True, help="Show where an unforeseen error comes from.")
@click.pass_context
def main(context: click.Context, *, traceback: bool) -> None:
    """Keep Kubernetes workloads on an even keel while they run on spot capacity.

    Evenkeel gets each replacement running before the old pod stops. These commands show what
    it does, on a built-in cluster, on a snapshot of yours, or on yours. They write to a real
    cluster with --apply only. Two act at once, unless --dry-run is given: poll and serve.
    """
    del traceback
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


if __name__ == "__main__":
    main()
