"""Where a command prints: colours and a live view on a terminal, plain lines elsewhere."""

from rich.console import Console


def standard_output() -> Console:
    """Standard output as rich sees it: coloured on a terminal, unless NO_COLOR is set.

    Elsewhere the lines are 80 columns wide, or as wide as $COLUMNS says.
    """
    return Console(highlight=False, markup=False, emoji=False)


def standard_error() -> Console:
    """Standard error, for notes that are no result."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def can_show_live(console: Console) -> bool:
    """Whether a picture that is painted again and again can be shown."""
    return console.is_terminal and not console.is_dumb_terminal
