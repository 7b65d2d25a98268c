"""A step of an installation or a removal, and how steps are gone through."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from evenkeel.errors import EvenkeelError
from evenkeel_cli.errors import CommandError, UnmetError
from evenkeel_cli.install.patience import TimeIsUpError

type Say = Callable[[str], None]
"""Prints one line for people."""

WIDTH: Final = 12


class Step(Protocol):
    """One thing that has to be as wanted. Its methods raise CommandError or ClusterError."""

    @property
    def title(self) -> str:
        """What it is about, in a word or two."""
        ...

    def look(self) -> Sequence[str]:
        """What is still to be done, a line each; none if all is as wanted. Writes nothing."""
        ...

    def do(self) -> None:
        """Do it. Doing again what was done, or was half done, is the same as doing it once."""
        ...


def go(steps: Iterable[Step], say: Say, *, apply: bool, otherwise: str = "as wanted") -> bool:
    """Look at each step and, with ``apply``, do it before the next one is looked at.

    ``otherwise`` is said of a step of which nothing is to be done. Answers whether anything was to
    be done. Raises UnmetError where a step fails: the steps before it stay done. One that takes
    too long has not failed.
    """
    is_any = False
    for step in steps:
        todo = step.look()
        for i, line in enumerate(todo or (otherwise,)):
            say(f"{step.title if i == 0 else '':{WIDTH}}  {line}")
        is_any |= bool(todo)
        if todo and apply:
            try:
                step.do()
            except TimeIsUpError:
                raise
            except (CommandError, EvenkeelError) as error:
                raise UnmetError(
                    f"{step.title}: {error}; what was done before stays: mend it and run the same"
                    " command again"
                ) from error
            say(f"{'':{WIDTH}}  done")
    return is_any
