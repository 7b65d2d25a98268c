"""What a replay prints while it runs: events, decisions, and notes about itself."""

from evenkeel.ports import Clock
from evenkeel_cli import lines, words
from evenkeel_cli.events import describe
from evenkeel_cli.journal import Entry
from evenkeel_cli.lines import Line
from evenkeel_cli.output import Output
from evenkeel_sandbox.events import Arriving


class Printer:
    """Prints lines as things happen, with the time since ``start``."""

    def __init__(self, output: Output, clock: Clock) -> None:
        """Print there; the clock is the one on which things happen."""
        self._output = output
        self._clock = clock
        self.start = clock.now()

    def event(self, arriving: Arriving, node: str) -> None:
        """An event arrives."""
        self._say("event", f"{arriving.place.short}: {describe(arriving, node)}")

    def decided(self, entry: Entry) -> None:
        """Evenkeel has decided something."""
        self._output.tell(lines.of_decision(entry.decision, entry.at - self.start))

    def lost(self, node: str, pods: int) -> None:
        """A machine is gone."""
        self._say("end", words.end_of(node, pods))

    def _say(self, word: str, text: str) -> None:
        self._output.tell(Line(self._clock.now() - self.start, word, text))
