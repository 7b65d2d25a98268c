"""What ministack's EC2 lacks: it does not tell which instances are spot.

The functions ask for EC2 here. Every request is handed on as it came, with its signature; into the
answers goes the lifecycle that EC2 tells of spot instances.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import urllib3

LONGEST = 10.0


class SpotMarket(ThreadingHTTPServer):
    """Hands requests on to EC2 at ``url``. ``spot`` are the ids of the spot instances."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spot: set[str] = set()
        self.ec2 = url

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def told(self, answer: bytes) -> bytes:
        """An answer of EC2's with the lifecycle of its spot instances."""
        for instance_id in self.spot:
            item = f"<instanceId>{instance_id}</instanceId>"
            lifecycle = "<instanceLifecycle>spot</instanceLifecycle>"
            answer = answer.replace(item.encode(), (item + lifecycle).encode())
        return answer


class _Handler(BaseHTTPRequestHandler):
    server: SpotMarket

    def do_POST(self) -> None:
        answer = urllib3.request(
            "POST",
            self.server.ec2 + self.path,
            body=self.rfile.read(int(self.headers["Content-Length"])),
            headers=dict(self.headers.items()),
            retries=False,
            timeout=LONGEST,
        )
        body = self.server.told(answer.data)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("content-type", ""))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet."""


@contextmanager
def opened(url: str) -> Iterator[SpotMarket]:
    """A market before EC2 at this URL, for as long as the context."""
    with SpotMarket(url) as market:
        thread = Thread(target=market.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield market
        finally:
            market.shutdown()
            thread.join(5)
