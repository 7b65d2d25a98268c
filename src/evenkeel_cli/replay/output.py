"""What a replay prints while it runs: events, decisions, and notes about itself."""

from typing import Any

import msgspec
from rich.console import Console

from evenkeel.adapters.telemetry import decision_log
from evenkeel.ports import Clock
from evenkeel_cli import lines, words
from evenkeel_cli.events import describe
from evenkeel_cli.journal import Entry, Journal
from evenkeel_cli.lines import Line
from evenkeel_sandbox.events import Arriving


class Printer:
    """Prints lines as things happen, with the time since ``start``.

    ``quiet``: print nothing, for only the result is wanted.
    """

    def __init__(self, console: Console, clock: Clock, *, quiet: bool = False) -> None:
        """Print to this console; the clock is the one on which things happen."""
        self._console = console
        self._clock = clock
        self._quiet = quiet
        self.start = clock.now()

    def event(self, arriving: Arriving, node: str) -> None:
        """An event arrives."""
        self._say("event", f"{arriving.place.short}: {describe(arriving, node)}")

    def decided(self, entry: Entry) -> None:
        """Evenkeel has decided something."""
        self._show(lines.of_decision(entry.decision, entry.at - self.start))

    def lost(self, node: str, pods: int) -> None:
        """A machine is gone."""
        self._say("end", words.end_of(node, pods))

    def _say(self, word: str, text: str) -> None:
        self._show(Line(self._clock.now() - self.start, word, text))

    def _show(self, line: Line) -> None:
        if not self._quiet:
            line.show(self._console)


def decisions(journal: Journal, cluster: str, mode: str) -> list[Any]:
    """The decisions as the decision log has them."""
    return [
        msgspec.to_builtins(decision_log.record(entry.decision, entry.at, cluster, mode))
        for entry in journal.entries
    ]
