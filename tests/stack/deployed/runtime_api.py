"""Lambda's Runtime API, as far as a runtime needs it: the next event, and what became of it.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import time
from typing import Any

from tests.kit.http_server import Answer, HttpServer, Request

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


class RuntimeApi(HttpServer):
    """Hands out events one after the other, and takes the answers to them."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        self._answers: queue.Queue[tuple[str, Any]] = queue.Queue()

    def invoke(self, event: dict[str, Any]) -> tuple[str, Any]:
        """Hand out an event; ``response`` or ``error`` and what was answered."""
        self._events.put(event)
        return self._answers.get(timeout=LONGEST)

    def _answer(self, request: Request) -> Answer:
        if request.method == "POST":
            self._answers.put((request.path.rpartition("/")[2], request.json))
            return Answer(status=202)
        event = json.dumps(self._events.get()).encode()
        deadline = round(time.time() * 1000) + TIMEOUT_MS  # noqa: TID251 - on the wall clock
        return Answer(event, headers=HEADERS | {"Lambda-Runtime-Deadline-Ms": str(deadline)})
