"""How fast replacements are made."""

from datetime import datetime


class Progress:
    """How fast replacements are made, over one invocation."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self._first: tuple[datetime, int] | None = None

    def rate(self, made: int, now: datetime) -> float:
        """Replacements per second since the first count, 0 within the first second.

        ``made``: releases less those not made anew, each since the invocation began or not:
        only differences matter.
        """
        if self._first is None:
            self._first = (now, made)
        since, first = self._first
        seconds = (now - since).total_seconds()
        return max(0.0, (made - first) / seconds) if seconds >= 1 else 0.0
