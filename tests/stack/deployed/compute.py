"""What ministack's EC2 and Auto Scaling lack: which instances are spot, how long a hook waits.

The functions ask for both here. Every request is handed on as it came, with its signature; into the
answers goes what AWS would say besides.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import urllib3

LONGEST = 10.0
HEARTBEAT = re.compile(rb"<HeartbeatTimeout>(\d+)</HeartbeatTimeout>")
"""A hook waits for a hundred times of it at most; ministack does not say so.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LifecycleHook.html
"""


class Compute(ThreadingHTTPServer):
    """Hands requests on to ministack at ``url``. ``spot`` are the ids of the spot instances."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spot: set[str] = set()
        self.ministack = url
        self._done: list[Mapping[str, str]] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def done(self, action: str, **parameters: str) -> Sequence[Mapping[str, str]]:
        """The requests for an action, with these parameters, that were carried out."""
        wanted = {"Action": action, **parameters}.items()
        return [each for each in self._done if wanted <= each.items()]

    def told(self, request: bytes, status: int, answer: bytes) -> bytes:
        """An answer with all that AWS would say."""
        if status == 200:
            self._done.append({k: values[0] for k, values in parse_qs(request.decode()).items()})
        for instance_id in self.spot:
            item = f"<instanceId>{instance_id}</instanceId>"
            lifecycle = "<instanceLifecycle>spot</instanceLifecycle>"
            answer = answer.replace(item.encode(), (item + lifecycle).encode())
        return HEARTBEAT.sub(rb"\g<0><GlobalTimeout>\g<1>00</GlobalTimeout>", answer)


class _Handler(BaseHTTPRequestHandler):
    server: Compute

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["Content-Length"]))
        answer = urllib3.request(
            "POST",
            self.server.ministack + self.path,
            body=request,
            headers=dict(self.headers.items()),
            retries=False,
            timeout=LONGEST,
        )
        body = self.server.told(request, answer.status, answer.data)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("content-type", ""))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet."""


@contextmanager
def opened(url: str) -> Iterator[Compute]:
    """Both before ministack at this URL, for as long as the context."""
    with Compute(url) as compute:
        thread = Thread(target=compute.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield compute
        finally:
            compute.shutdown()
            thread.join(5)
