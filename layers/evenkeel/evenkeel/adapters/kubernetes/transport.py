"""HTTP to one API server: connections, authentication, tries again, and errors of our own."""

import random
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import Final, NamedTuple

import urllib3
from urllib3.exceptions import (
    ClosedPoolError,
    ConnectTimeoutError,
    EmptyPoolError,
    HTTPError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes.endpoint import Endpoint, Limits
from evenkeel.adapters.kubernetes.failures import failure, time_in, warnings_in
from evenkeel.adapters.kubernetes.occasional import Omissions
from evenkeel.adapters.kubernetes.refusals import RefusedCredentials
from evenkeel.adapters.kubernetes.versions import Versions
from evenkeel.adapters.kubernetes.wire import Call
from evenkeel.errors import ClusterError, ThrottledError, TooLargeError, UnavailableError
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Journal, TimeLeft

USER_AGENT = "evenkeel"
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
LONGEST_THROTTLED = 1.0
"""Seconds of a pause that the API server asks for and that a call of somebody with a deadline waits
for here: what to do in more of them is his to say. Its priority levels ask for 1 to 32 s.

https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/apiserver/pkg/util/flowcontrol/dropped_requests_tracker.go
"""
SILENCE = timedelta(seconds=100)
"""A watch without a byte for so long is dead: bookmarks come about once a minute."""

type Response = urllib3.BaseHTTPResponse


BITE = 2**16
"""Bytes that are taken from a connection at once."""

SMALL = 2**20
"""Bytes of an answer that any number of threads may hold at once."""

MOST_BYTES = 2**23
"""Bytes of an answer at most: decoded they may need ten times as much.

A page of 500 pods has some 5 MB, and one object at most what etcd takes: 1.5 MB by default.
"""


class Silent:
    """A Journal that keeps nothing."""

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Drop the count."""

    def noted(self, message: str, **details: object) -> None:
        """Drop the line."""


SILENT: Final = Silent()


class NotSentError(UnavailableError):
    """There was no connection: the request cannot have been carried out."""


class SilentError(UnavailableError):
    """There is a connection, and no byte came over it for as long as that may be."""


class Answered[T](NamedTuple):
    """What was read of an answer, and the API server's time then; None where it told none."""

    read: T
    date: datetime | None


class Transport:
    """Sends calls to one API server. Any number of threads may use it."""

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        *,
        clock: Clock | None = None,
        jitter: random.Random | None = None,
        journal: Journal = SILENT,
    ) -> None:
        """Connections are made when they are needed; nothing is sent yet.

        ``journal`` gets a line where the API server refuses who asks, and one, once a minute at
        most, where an object cannot be read, or a kind is not served.
        """
        self.limits = limits or Limits()
        self._endpoint = endpoint
        self._clock = clock or SystemClock()
        self._refusals = RefusedCredentials(self._clock, journal, endpoint.remedy)
        self.left_out = Omissions(self._clock, journal)
        self.versions = Versions(self._clock, journal)
        self._jitter = jitter or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._base_path = (urllib3.util.parse_url(endpoint.server).path or "").rstrip("/")
        self._lock = Lock()
        self._one_large = Lock()
        self._pool = self._connect(self.limits.in_sessions, block=True)
        self._streams = self._connect(self.limits.parallel, block=False)
        self._used = self._clock.now()
        self._answered = False

    def exchange[T](
        self,
        call: Call,
        read: Callable[[bytearray], T],
        until: datetime | None = None,
        left: TimeLeft | None = None,
    ) -> Answered[T]:
        """What ``read`` makes of the body of the answer to a call, tried as ``_ask`` says.

        One thread at a time holds a large body. Raises ClusterError: TooLargeError for a
        body of more than MOST_BYTES.
        """
        with ExitStack() as large:
            body, date = self._ask(call, partial(self._body, call, large), until, left)
            return Answered(read(body), date)

    def respond(self, call: Call) -> Response:
        """The whole answer to a call, with its headers, however large. Raises ClusterError."""
        return self._ask(call, _with_body)

    def _ask[T](
        self,
        call: Call,
        take: Callable[[Response], T],
        until: datetime | None = None,
        left: TimeLeft | None = None,
    ) -> T:
        """What ``take`` reads of the answer to a call.

        A call that was certainly not carried out is tried again while the budget lasts, and not
        beyond ``until``. One that may have been carried out is tried again only if it is safe. No
        try begins, and no pause before one, once no time is ``left``; and where ``left`` is given,
        none that the API server asks for is longer than LONGEST_THROTTLED.
        """
        now = self._clock.now()
        give_up = (
            now + self.limits.budget if until is None else min(now + self.limits.budget, until)
        )
        give_up_first = give_up if self.limits.first is None else now + self.limits.first
        if now >= give_up:
            raise UnavailableError(f"{call.what}: there is no time left for it")
        tries = 0
        while True:
            try:
                pool = self._current_pool()
                with self._translating(call):
                    return take(self._open(call, pool, self._time_left(give_up, left)))
            except (ThrottledError, UnavailableError) as error:
                pause = self._pause(error, tries)
                may_repeat = call.safe or isinstance(error, ThrottledError | NotSentError)
                is_first = isinstance(error, NotSentError) and not self._answered
                end = min(give_up, give_up_first) if is_first else give_up
                is_long = (
                    isinstance(error, ThrottledError) and error.retry_after > LONGEST_THROTTLED
                )
                is_over = left is not None and (left() <= pause or is_long)
                if not may_repeat or is_over or self._clock.now() + pause >= end:
                    raise
            self._clock.sleep(pause)
            tries += 1

    @property
    def listing_ends(self) -> datetime:
        """Until when a list may take that begins now."""
        return self._clock.now() + self.limits.listing

    @contextmanager
    def stream(self, call: Call) -> Iterator[Response]:
        """The answer to a call while it still comes in. Not tried again.

        Raises ClusterError, inside the with statement too.
        """
        with self._translating(call):
            response = self._open(call, self._streams, lambda: self.limits.budget, whole=False)
            try:
                yield response
            finally:
                response.close()

    def close(self) -> None:
        """Close all idle connections; those in use close when they are done."""
        self._pool.close()
        self._streams.close()

    def _open(
        self,
        call: Call,
        pool: urllib3.HTTPConnectionPool,
        left: TimeLeft,
        *,
        whole: bool = True,
    ) -> Response:
        """One try, two where a token was refused. Answers a success; raises ClusterError."""
        tokens = self._endpoint.tokens
        token = tokens.token() if tokens else ""
        response = self._send(call, pool, token, left=left, whole=whole)
        if response.status == 401 and tokens:
            tokens.refused(token)
            if (renewed := tokens.token()) != token:
                response.close()
                response = self._send(call, pool, renewed, left=left, whole=whole)
        self._refusals.answered(response.status, response.headers.get("Date"))
        if response.status >= 300:
            with self._translating(call):
                retry_after = response.headers.get("Retry-After")
                refused = failure(call.what, response.status, response.data, retry_after)
                refused.warnings = warnings_in(response.headers.getlist("Warning"))
                refused.date = time_in(response.headers.get("Date"))
                raise refused
        return response

    def _body(self, call: Call, large: ExitStack, response: Response) -> Answered[bytearray]:
        """The body of an answer; a large one waits until no other thread holds a large one.

        It grows in place: put together of two parts it would take twice as much for a moment.
        """
        body, before = bytearray(), 0
        try:
            # Not of its stream: that unpacks what came at once, however large it gets.
            while bite := response.read(BITE):
                body += bite
                if before < SMALL <= len(body):
                    large.enter_context(self._one_large)
                if (before := len(body)) > MOST_BYTES:
                    break
        except HTTPError:
            large.close()
            raise
        if len(body) > MOST_BYTES:
            response.close()
            response.release_conn()
            body.clear()  # an error keeps what its frames have
            raise TooLargeError(f"{call.what}: the answer has more than {MOST_BYTES} bytes")
        return Answered(body, time_in(response.headers.get("Date")))

    def _send(
        self,
        call: Call,
        pool: urllib3.HTTPConnectionPool,
        token: str,
        *,
        left: TimeLeft,
        whole: bool,
    ) -> Response:
        headers = {"User-Agent": USER_AGENT, **call.headers}
        if not whole:
            # The next watch may come after a freeze, and would wait for its head as long as this
            # one may be silent.
            headers["Connection"] = "close"
        if token:
            headers["Authorization"] = f"Bearer {token}"
        rest = left()
        if rest <= timedelta():
            raise NotSentError(f"{call.what}: there is no time left for it")
        timeout = urllib3.Timeout(
            connect=min(self.limits.connect, rest).total_seconds(),
            read=(min(self.limits.read, rest) if whole else SILENCE).total_seconds(),
        )
        with self._translating(call):
            response = pool.urlopen(
                call.method,
                self._base_path + call.target,
                body=call.body,
                headers=headers,
                retries=False,
                redirect=False,
                timeout=timeout,
                pool_timeout=rest.total_seconds(),  # type: ignore[arg-type]  # a queue's timeout
                preload_content=False,
                assert_same_host=False,
            )
            if response.status >= 300:
                # Now, so that the connection is free whatever becomes of the error.
                _with_body(response)
        self._answered = True
        return response

    @contextmanager
    def _translating(self, call: Call) -> Iterator[None]:
        """Turn urllib3's errors into ours."""
        try:
            yield
        except SSLError as error:
            if isinstance(error.args[0] if error.args else None, ssl.SSLCertVerificationError):
                # Trying again would not make it any more trustworthy.
                raise ClusterError(
                    f"{call.what}: the certificate of {self._endpoint.shown} is not trusted:"
                    f" {error}; check the cluster's certificate authority and its name"
                ) from error
            raise UnavailableError(f"{call.what}: {error}") from error
        except (NewConnectionError, ConnectTimeoutError, ProxyError, ClosedPoolError) as error:
            raise NotSentError(
                f"{call.what}: no connection to {self._endpoint.shown}: {error}"
            ) from error
        except EmptyPoolError as error:
            raise NotSentError(
                f"{call.what}: all {self.limits.in_sessions} connections were busy"
            ) from error
        except ReadTimeoutError as error:
            raise SilentError(f"{call.what}: {error}") from error
        except HTTPError as error:
            raise UnavailableError(f"{call.what}: {error}") from error

    def _time_left(self, give_up: datetime, left: TimeLeft | None) -> TimeLeft:
        def time_left() -> timedelta:
            rest = give_up - self._clock.now()
            return rest if left is None else min(rest, left())

        return time_left

    def _pause(self, error: ClusterError, tries: int) -> timedelta:
        """How long to wait before the next try: longer each time, at least as the server asks."""
        spread = 0.5 + self._jitter.random() / 2
        seconds = spread * min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
        if isinstance(error, ThrottledError):
            # Spread, or all clients that the server put off come back at once.
            seconds = max(seconds, error.retry_after * (1 + self._jitter.random() / 4))
        return timedelta(seconds=seconds)

    def _current_pool(self) -> urllib3.HTTPConnectionPool:
        """The connections for requests; new ones if the old may be dead without a sign."""
        now = self._clock.now()
        with self._lock:
            if now - self._used > self.limits.idle:
                self._pool.close()
                self._pool = self._connect(self.limits.in_sessions, block=True)
            self._used = now
            return self._pool

    def _connect(self, size: int, *, block: bool) -> urllib3.HTTPConnectionPool:
        pools = self._endpoint.pools(
            maxsize=size,
            block=block,
            socket_options=_socket_options(),
            ssl_context=self._endpoint.tls,
        )
        return pools.connection_from_url(self._endpoint.server)


def _with_body(response: Response) -> Response:
    """The same answer, once its body is here."""
    assert response.data is not None  # noqa: S101 - reading it is what this is for
    return response


def _socket_options() -> list[tuple[int, int, int]]:
    """No delay for small writes, and keep-alive probes: a dead peer shows after half a minute."""
    options = [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):  # not on every system
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options
