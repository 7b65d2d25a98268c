"""LocalStack in its own process, for its EventBridge and its SQS."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.control_plane import ROOT
from tests.kit.processes import awaited, ended
from tests.stack.deployed.process import answers, free_port, plain_environment

PYTHON = ROOT / ".venv-localstack" / "bin" / "python"


@contextmanager
def launched(folder: Path) -> Iterator[str]:
    """A LocalStack without any state, for as long as the context; its URL."""
    assert PYTHON.exists(), "there is no LocalStack: make venv-localstack"
    port = free_port()
    log = folder / "localstack.log"
    environment = {
        **plain_environment(),
        "DISABLE_EVENTS": "1",  # no telemetry
        "DNS_ADDRESS": "0",
        "FILESYSTEM_ROOT": str(folder / "state"),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "SERVICES": "events,sqs",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "STRICT_SERVICE_LOADING": "1",
        "TMPDIR": str(folder),
    }
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [PYTHON, "-m", "localstack.runtime.main"],
            env=environment,
            cwd=folder,
            stdout=out,
            stderr=out,
        ) as process,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            awaited(process, log, lambda: answers(f"{url}/_localstack/health"))
            yield url
        finally:
            ended(process)
