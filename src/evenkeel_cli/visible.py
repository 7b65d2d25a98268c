"""Control characters made visible: text of a cluster's objects must not steer a terminal."""

from typing import Final

_ESCAPED: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}
"""C0 and C1: an escape sequence could retitle the window, hide lines, or type commands."""


def visible(text: str) -> str:
    """The text with its control characters written out, but for line ends and tabs."""
    return text.translate(_ESCAPED)
