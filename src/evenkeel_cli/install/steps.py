"""A step of an installation or a removal, and how steps are gone through."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, Protocol

import msgspec

from evenkeel.errors import EvenkeelError
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.errors import CommandError, UnmetError
from evenkeel_cli.install.patience import TimeIsUpError
from evenkeel_cli.output import Item, Listing, Output

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


class StepState(Item, frozen=True, kw_only=True):
    """How a step was found: ``ok`` where all was as wanted, else what was to be changed.

    ``done``: that was changed.
    """

    step: str
    ok: bool
    changes: Sequence[str]
    done: bool


class StepStateList(Listing, frozen=True, kw_only=True):
    """The steps of ``evenkeel install``, ``upgrade``, ``uninstall`` and ``rotate-token``."""

    columns: ClassVar[Columns[StepState]] = (
        Column("STEP", lambda each: each.step),
        Column("OK", lambda each: each.ok),
        Column("CHANGE", lambda each: "".join(each.changes)),
    )

    items: Sequence[StepState]

    @property
    def is_any(self) -> bool:
        """Whether anything was to be done."""
        return not all(each.ok for each in self.items)

    def each_change(self) -> Sequence[StepState]:
        """The items, each as often as it has changes."""
        replace = msgspec.structs.replace
        return [replace(e, changes=(c,)) for e in self.items for c in e.changes or ("",)]


def go(steps: Iterable[Step], output: Output, *, apply: bool) -> StepStateList:
    """Look at each step and, with ``apply``, do it before the next one is looked at.

    A plan is shown as a table; what is done is told while it is. Raises UnmetError where a step
    fails: the steps before it stay done. One that takes too long has not failed.
    """
    found = StepStateList(items=[_gone(step, output, apply=apply) for step in steps])
    if not apply:
        output.table(found.columns, found.each_change())
    output.dump(found)
    return found


def tell(output: Output, line: str, title: str = "") -> None:
    """A line of what is under way, behind the step's title or below it."""
    output.say(f"{title:{WIDTH}}  {line}", hang=WIDTH + 2)


def _gone(step: Step, output: Output, *, apply: bool) -> StepState:
    """Look at a step and, with ``apply``, do it."""
    todo = step.look()
    changes = [line.strip() for line in todo]
    state = StepState(step=step.title, ok=not todo, changes=changes, done=apply and bool(todo))
    if not apply:
        return state
    for i, line in enumerate(todo or ("as wanted",)):
        tell(output, line, step.title if i == 0 else "")
    if todo:
        try:
            step.do()
        except TimeIsUpError:
            raise
        except (CommandError, EvenkeelError) as error:
            raise UnmetError(
                f"{step.title}: {error}; what was done before stays: mend it and run the same"
                " command again"
            ) from error
        tell(output, "done")
    return state
