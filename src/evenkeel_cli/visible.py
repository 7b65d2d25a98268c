"""Characters that nobody sees made visible: objects' text must not steer or deceive a reader."""

from typing import Final
from unicodedata import category

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control characters, of which an escape sequence could retitle the window,
hide lines or type commands; formats, some of which turn the order of what follows; halves of
characters, which cannot be printed; and what ends a line or a paragraph."""


def visible(text: str) -> str:
    """The text with such characters written out, but for line ends and tabs."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    is_hidden = char not in "\n\t" and category(char) in _HIDDEN
    return char.encode("unicode_escape").decode() if is_hidden else char
