"""What plays AWS runs in processes of its own: how they start, and how they end."""

import os
import socket
import subprocess
import time
from pathlib import Path

import urllib3

STOPPING = 10.0


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


def awaited(url: str, process: "subprocess.Popen[bytes]", log: Path, seconds: float) -> None:
    """Wait until a process answers at a URL; fails with the end of its log."""
    give_up = time.monotonic() + seconds
    while True:
        try:
            urllib3.request("GET", url, timeout=1.0, retries=False)
        except urllib3.exceptions.HTTPError:
            told = f"it does not start:\n{log.read_text()[-2000:]}"
            assert process.poll() is None, told
            assert time.monotonic() < give_up, told
            time.sleep(0.1)  # noqa: TID251 - it starts on the wall clock
        else:
            return


def ended(process: "subprocess.Popen[bytes]") -> None:
    """End it, kindly first."""
    process.terminate()
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
