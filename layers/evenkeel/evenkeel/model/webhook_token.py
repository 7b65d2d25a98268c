"""The secret in the webhook's path: the only one that an API server can present."""

from typing import Final

TOKEN: Final = "([0-9A-Fa-f]{64,256}|(?=[0-9A-Fa-f]*[G-Zg-z_-])[0-9A-Za-z_-]{43,256})"  # noqa: S105 - its shape
"""Of a text that can hold 256 bits: 64 hexadecimal digits, or 43 characters of base64url, of which
one has to be no hexadecimal digit."""

TOKENS: Final = f"{TOKEN}(,{TOKEN})?"
"""One, or two while they are rotated. What template.yaml allows as well, so that a token is refused
when the stack is deployed."""
