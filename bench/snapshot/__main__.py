"""``python -m bench.snapshot``: what the commands take of a GB of snapshot."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench import conditions, store
from bench.report import snapshot as report
from bench.say import since_now
from bench.snapshot.results import Reading, Taken
from bench.snapshot.writing import write

PODS: Final = 150_000
READ: Final = "from sys import argv; from evenkeel_cli import snapshot; snapshot.read(argv[1])"
"""What every command with --snapshot does first."""


def run(pods: int) -> Reading:
    """Write a file, and read it with each command in a process of its own."""
    say = since_now()
    python = sys.executable
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        file = Path(folder) / "snapshot.json"
        write(file, pods)
        megabytes = file.stat().st_size / 1e6
        say(f"{pods:,} pods, {megabytes:,.0f} MB")
        status = [python, "-m", "evenkeel_cli.main", "status", "-A", "-o", "name"]
        taken = [
            _taken("reading alone", [python, "-c", READ, str(file)]),
            _taken("evenkeel status", [*status, "--snapshot", str(file)]),
        ]
    for each in taken:
        say(f"{each.command}: {each.seconds:.1f} s, CPU {each.cpu:.1f} s, {each.peak_mb:.0f} MB")
    return Reading(
        conditions=conditions.look(simulated=True), pods=pods, megabytes=megabytes, taken=taken
    )


def _taken(command: str, line: Sequence[str]) -> Taken:
    begun = os.times().elapsed
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, cwd=store.ROOT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert not process.returncode, f"{command} ended with {process.returncode}"
    return Taken(
        command=command,
        seconds=os.times().elapsed - begun,
        cpu=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / 1024,
    )


def main(arguments: Sequence[str]) -> int:
    """``[--pods N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.snapshot")
    parser.add_argument("--pods", type=int, default=PODS)
    reading = run(parser.parse_args(arguments).pods)
    return store.keep("snapshot", reading, report.table(reading), reading.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
