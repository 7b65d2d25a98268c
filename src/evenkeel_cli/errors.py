"""How a command ends, and what it says when it cannot do what it was asked.

CommandError                 one line for people; ``code`` is the exit code
|-- BadInputError            an argument, a file or a record is not what it should be
`-- UnmetError               the input was good, and what was asked for could not be done

A command that did its work and found something wrong returns ``Exit.FINDING`` itself; see ``main``.
"""

from enum import IntEnum
from typing import Self


class Exit(IntEnum):
    """The exit codes of all commands. ``meaning`` is one sentence for people."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        """An exit code."""
        made = int.__new__(cls, code)
        made._value_ = code
        made.meaning = meaning
        return made

    DONE = 0, "It is done, and nothing is wrong."
    FINDING = 1, "It is done, and something is wrong: the command's own help says what that is."
    BAD_INPUT = 2, "An option, an argument, a file or a setting is not what it should be."
    UNMET = 3, "It could not be done: the cluster, AWS or the machine refused it or was away."
    INTERRUPTED = 130, "Ctrl-C ended it."
    UNREAD = 141, "What reads the output went away before the end, as head does."
    """Shells' code for what SIGPIPE ends, as kubectl: the reader has not seen how it ended."""


class CommandError(Exception):
    """A command cannot go on. The message is one line: what is wrong, and the remedy."""

    code = Exit.UNMET


class BadInputError(CommandError):
    """What the command was given is not what it should be."""

    code = Exit.BAD_INPUT


class UnmetError(CommandError):
    """The input was good, but the cluster or the machine did not do what was wanted."""
