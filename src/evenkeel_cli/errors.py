"""What a command says when it cannot do what it was asked.

CommandError                 one line for people; ``code`` is the exit code
|-- BadInputError            2: an argument, a file or a record is not what it should be
`-- UnmetError               3: the input was good, and what was asked for could not be done

A command that did its work and found something wrong returns 1 itself; see ``main``.
"""


class CommandError(Exception):
    """A command cannot go on. The message is one line: what is wrong, and the remedy."""

    code = 3


class BadInputError(CommandError):
    """What the command was given is not what it should be."""

    code = 2


class UnmetError(CommandError):
    """The input was good, but the cluster or the machine did not do what was wanted."""
