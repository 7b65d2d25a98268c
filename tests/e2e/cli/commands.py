"""The command ``evenkeel`` as a person runs it, in a process of its own."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.control_plane import ROOT, ControlPlane

LONGEST = 240.0
"""Seconds that a command may run while a test reads what it prints."""


def command(control_plane: ControlPlane, *arguments: str | Path) -> list[str]:
    """What a person types: ``evenkeel`` with these arguments, on this cluster."""
    kubeconfig = ["--kubeconfig", str(control_plane.kubeconfig)]
    name, *rest = map(str, arguments)
    return [str(ROOT / ".venv" / "bin" / "evenkeel"), name, *kubeconfig, *rest]


def evenkeel(
    control_plane: ControlPlane, *arguments: str | Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    return subprocess.run(
        command(control_plane, *arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


HEARING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


@contextmanager
def started(control_plane: ControlPlane, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; it is ended if the test fails, or takes longer than LONGEST.

    As on a terminal it hears Ctrl-C, which a shell lets its jobs in the background ignore, and
    with them whatever they start.
    """
    with subprocess.Popen(
        [sys.executable, "-c", HEARING, *map(str, command(control_plane, *arguments))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        limit = threading.Timer(LONGEST, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()
