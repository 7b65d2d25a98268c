"""Lambda's Runtime API, as far as a runtime needs it: the next event, and what became of it.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

HEADERS = {
    "Content-Type": "application/json",
    "Lambda-Runtime-Aws-Request-Id": "00000000-0000-4000-8000-000000000000",
    "Lambda-Runtime-Client-Context": "",
    "Lambda-Runtime-Cognito-Identity": "",
    "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-central-1:123456789012:function:f",
    "Lambda-Runtime-Trace-Id": "Root=1-00000000-000000000000000000000000;Sampled=0",
}
"""The runtime's client ends with a segmentation fault where one of them is missing."""

TIMEOUT_MS = 20_000
LONGEST = 30.0


class RuntimeApi:
    """Hands out events one after the other, and takes the answers to them."""

    def __init__(self) -> None:
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.answers: queue.Queue[tuple[str, Any]] = queue.Queue()

    def invoke(self, event: dict[str, Any]) -> tuple[str, Any]:
        """Hand out an event; ``response`` or ``error`` and what was answered."""
        self.events.put(event)
        return self.answers.get(timeout=LONGEST)


@contextmanager
def serving() -> Iterator[tuple[RuntimeApi, str]]:
    """The API and its address, for as long as the context."""
    api = RuntimeApi()

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(api.events.get()).encode()
            deadline = round(time.time() * 1000) + TIMEOUT_MS  # noqa: TID251 - on the wall clock
            headers = HEADERS | {
                "Lambda-Runtime-Deadline-Ms": str(deadline),
                "Content-Length": str(len(body)),
            }
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            api.answers.put((self.path.rpartition("/")[2], json.loads(body)))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Requests) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield api, f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
