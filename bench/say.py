"""How a bench tells of its progress."""

import time
from collections.abc import Callable

type Say = Callable[[str], None]


def since_now() -> Say:
    """Prints lines, each with the seconds since this call."""
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)

    return say
