"""``evenkeel poll`` as a process, with queues that are played."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import urllib3

from tests.e2e.accounts import held
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.moto_server import CLUSTER, CREDENTIALS, Aws

ENDING = 40.0


class Poll:
    """A running `evenkeel poll`."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def told(self) -> str:
        return self.log.read_text()

    def asked(self, path: str) -> str:
        """What is answered on its metrics' port."""
        (port,) = re.findall(r"serves metrics on port (\d+)", self.told)
        answer = urllib3.request("GET", f"http://127.0.0.1:{port}{path}", timeout=10, retries=False)
        assert answer.status == 200
        return answer.data.decode()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(ENDING)


COMMAND = (str(ROOT / ".venv" / "bin" / "evenkeel"),)


@contextmanager
def polling(
    plane: ControlPlane,
    queues: Aws,
    log: Path,
    *options: str,
    kubeconfig: Path | None = None,
    command: Sequence[str] = COMMAND,
) -> Iterator[Poll]:
    """It is at work; at the end it is gone, whatever happened."""
    words = [
        *(*command, "poll"),
        *("--queue-url", queues.notice_queue, "--endpoint-url", queues.endpoint),
        *("--kubeconfig", str(kubeconfig or held(plane))),
        *("--cluster-name", CLUSTER),
        *options,
    ]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            words,
            env={**os.environ, **CREDENTIALS},  # noqa: TID251 - for a child
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            text=True,
        )
    try:
        poll = Poll(process, log)
        started = f" the cluster {CLUSTER} at https://"
        plane.wait_for("it to poll", lambda: started in poll.told)
        yield poll
    finally:
        process.kill()
        process.wait(10)
