"""Decisions as lines for people: when, what, about which object, why."""

from datetime import datetime, timedelta
from typing import Final

from rich.text import Text

from cli import words
from cli.journal import Entry
from evenkeel.model.decision import Decision, Verb

STYLES: Final = {
    Verb.MARK: "yellow",
    Verb.CORDON: "yellow",
    Verb.RELEASE: "cyan",
    Verb.EVICT: "green",
    Verb.DELETE: "red",
    Verb.ROLL_BACK: "magenta",
    Verb.LIFT: "green",
    Verb.COMPLETE: "green",
    Verb.REJECT: "red",
}
QUIET: Final = "dim"
WARNING: Final = "bold red"

TIME_WIDTH: Final = 8
VERB_WIDTH: Final = 10

ABBREVIATED: Final = {Verb.EXCLUDE: "exclude", Verb.SET_CONDITION: "condition"}


def line(entry: Entry, start: datetime) -> Text:
    """``+12.3s  evict  pod shop/web-1-abc  ReplacementAvailable: 4 available, 3 wanted``."""
    decision = entry.decision
    verb = ABBREVIATED.get(decision.verb, decision.verb.value)
    text = Text(f"{words.offset(entry.at - start):>{TIME_WIDTH}}  ")
    text.append(f"{verb:<{VERB_WIDTH}}", style_of(decision))
    text.append(f" {_subject(decision)}")
    text.append(f"  {decision.reason}: {decision.message}", QUIET)
    return text


def plain(since: timedelta, word: str, message: str) -> Text:
    """A line of the same shape about something that is no decision."""
    return Text.assemble(f"{words.offset(since):>{TIME_WIDTH}}  {word:<{VERB_WIDTH}} ", message)


def style_of(decision: Decision) -> str:
    """The colour of a decision."""
    return WARNING if decision.warning else STYLES.get(decision.verb, QUIET)


def _subject(decision: Decision) -> str:
    subject = decision.subject
    if subject.kind == "Node":
        return f"node {words.short_node(subject.name)}"
    return words.subject_name(subject)
