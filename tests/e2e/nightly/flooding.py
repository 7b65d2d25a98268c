"""A client of the webhook that posts one review again and again, in a process of its own.

    python -m tests.e2e.nightly.flooding PORT AUTHORITY PATH PER_SECOND < REVIEW

Until it is ended. Each review has a connection of its own, and nobody waits for the one before.
"""

import http.client
import ssl
import sys
import time
from contextlib import suppress
from threading import BoundedSemaphore, Thread

AT_ONCE = 64
TIMEOUT = 3.0
"""Seconds that an API server waits."""


def main(port: str, authority: str, path: str, per_second: str) -> None:
    """Never returns; the status of each answer, or what cut it, is a line of the output."""
    body, tls = sys.stdin.buffer.read(), ssl.create_default_context(cafile=authority)
    places = BoundedSemaphore(AT_ONCE)

    def ask() -> None:
        made = http.client.HTTPSConnection("127.0.0.1", int(port), context=tls, timeout=TIMEOUT)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before
                made.request("POST", path, body, {"Content-Type": "application/json"})
            told = str(made.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            told = type(error).__name__
        finally:
            made.close()
            places.release()
        sys.stdout.write(f"{told}\n")
        sys.stdout.flush()

    began = time.monotonic()
    for number in range(10**9):
        places.acquire()
        Thread(target=ask, daemon=True).start()
        time.sleep(  # noqa: TID251 - another process has its own clock
            max(0.0, began + number / float(per_second) - time.monotonic())
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
