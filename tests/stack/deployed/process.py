"""What plays AWS runs in processes of its own: where they listen, and what they find there."""

import os
import socket

import urllib3


def free_port() -> int:
    """A port of this machine on which no process listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def plain_environment() -> dict[str, str]:
    """This process's, without what points elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - for a child
        if not name.startswith("AWS_")
    }
    return {
        **kept,
        "SAM_CLI_TELEMETRY": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
    }


def answers(url: str) -> bool:
    """Whether somebody answers at a URL."""
    try:
        urllib3.request("GET", url, timeout=1.0, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return True
