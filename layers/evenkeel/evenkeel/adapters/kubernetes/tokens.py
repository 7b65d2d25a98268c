"""Bearer tokens for the API server, from any source."""

from typing import Protocol


class TokenSource(Protocol):
    """Hands out bearer tokens. Several threads ask it at once."""

    def token(self) -> str:
        """A token that is valid now; a new one when the last has run out.

        Raises UnauthenticatedError when none can be had.
        """
        ...

    def refused(self, token: str) -> None:
        """The API server answered 401 to this token: hand out another from now on.

        Does nothing if the token is not the current one, so that many threads that met the
        same refusal renew it once.
        """
        ...
