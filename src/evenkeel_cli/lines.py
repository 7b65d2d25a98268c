"""What happens, as lines for people: when, what, about which object, why."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rich.console import Console
from rich.text import Text

from evenkeel.model.decision import Decision, Verb
from evenkeel_cli import words
from evenkeel_cli.console import wrapped

STYLES: Final = {
    verb: style
    for style, verbs in (
        ("yellow", (Verb.MARK, Verb.CORDON, Verb.DRAIN, Verb.RELAX)),
        ("cyan", (Verb.RELEASE, Verb.PATCH_TEMPLATE, Verb.SEAT, Verb.LET_IN)),
        ("green", (Verb.EVICT, Verb.LIFT, Verb.COMPLETE, Verb.HOLD)),
        ("red", (Verb.DELETE, Verb.REJECT)),
        ("magenta", (Verb.ROLL_BACK, Verb.COOL_DOWN, Verb.TRY_AGAIN)),
    )
    for verb in verbs
}
QUIET: Final = "dim"
WARNING: Final = "bold red"

WORD: Final = 10
"""The column in which the word begins, behind the time."""
TEXT: Final = 22
"""And that of the text."""

ABBREVIATED: Final = {Verb.EXCLUDE: "exclude", Verb.SET_CONDITION: "condition"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the time since the beginning, a word in its style, and the rest."""

    since: timedelta
    word: str
    text: str
    style: str = ""

    def flat(self) -> Text:
        """All in one line, however long it gets."""
        time, word = f"{words.offset(self.since):>{WORD - 2}}", f"{self.word:<{TEXT - WORD}}"
        return Text.assemble(f"{time}  ", (word, self.style), self.text.replace("\n", " "))

    def show(self, console: Console) -> None:
        """Print it; on a terminal what is beyond the edge goes on below the text."""
        whole = self.flat()
        first, *more = wrapped(console, whole.plain, TEXT)
        for line in (whole[: len(first)], *more):
            console.print(line, soft_wrap=True)


def of_decision(decision: Decision, since: timedelta) -> Line:
    """``+12.3s  evict  pod shop/web-1-abc: ReplacementAvailable: 4 available, 3 wanted``."""
    subject = decision.subject
    name = words.subject_name(subject)
    if subject.kind == "Node":
        name = f"node {words.short_node(subject.name)}"
    return Line(
        since,
        ABBREVIATED.get(decision.verb, decision.verb.value),
        f"{name}: {decision.reason}: {decision.message}",
        style_of(decision),
    )


def style_of(decision: Decision) -> str:
    """The colour of a decision."""
    return WARNING if decision.warning else STYLES.get(decision.verb, QUIET)
