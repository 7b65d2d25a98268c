"""What ministack lacks: TLS for SQS, which instances are spot, and how long a hook waits.

The functions call SQS, EC2 and Auto Scaling here. Every request is handed on as it came, with its
signature, as one that came by TLS: the queues take no others. Into the answers goes what AWS would
say besides.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

import urllib3

from tests.kit.http_server import Answer, HttpServer, Request

LONGEST = 10.0
HEARTBEAT = re.compile(rb"<HeartbeatTimeout>(\d+)</HeartbeatTimeout>")
"""A hook waits for a hundred times of it at most; ministack does not say so.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LifecycleHook.html
"""


class Compute(HttpServer):
    """Hands requests on to ministack at ``url``. ``spot`` are the ids of the spot instances."""

    def __init__(self, url: str) -> None:
        super().__init__(self._answer)
        self.spot: set[str] = set()
        self._ministack = url
        self._done: list[Mapping[str, str]] = []

    def done(self, action: str, **parameters: str) -> Sequence[Mapping[str, str]]:
        """The requests for an action, with these parameters, that were carried out."""
        wanted = {"Action": action, **parameters}.items()
        return [each for each in self._done if wanted <= each.items()]

    def _answer(self, request: Request) -> Answer:
        answer = urllib3.request(
            request.method,
            self._ministack + request.target,
            body=request.body,
            headers={**request.headers, "X-Forwarded-Proto": "https"},
            retries=False,
            timeout=LONGEST,
        )
        body = self._told(request.body, answer.status, answer.data)
        return Answer(body, answer.status, {"Content-Type": answer.headers.get("content-type", "")})

    def _told(self, request: bytes, status: int, answer: bytes) -> bytes:
        """An answer with all that AWS would say."""
        if status == 200:
            self._done.append({k: values[0] for k, values in parse_qs(request.decode()).items()})
        for instance_id in self.spot:
            item = f"<instanceId>{instance_id}</instanceId>"
            lifecycle = "<instanceLifecycle>spot</instanceLifecycle>"
            answer = answer.replace(item.encode(), (item + lifecycle).encode())
        return HEARTBEAT.sub(rb"\g<0><GlobalTimeout>\g<1>00</GlobalTimeout>", answer)
