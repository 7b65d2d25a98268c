"""One selection, listed and then followed by a thread of its own."""

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator
from threading import Event, Lock, Thread

from evenkeel.adapters.kubernetes import wire
from evenkeel.adapters.kubernetes.answers import read_list
from evenkeel.adapters.kubernetes.failures import failure, read_status
from evenkeel.adapters.kubernetes.objects import (
    WatchEvent,
    expected,
    read_metadata,
    read_object,
    read_version,
)
from evenkeel.adapters.kubernetes.room import Room
from evenkeel.adapters.kubernetes.transport import (
    BITE,
    MOST_BYTES,
    Response,
    SilentError,
    Transport,
)
from evenkeel.errors import (
    ClusterError,
    ExpiredError,
    ThrottledError,
    TooLargeError,
    UnavailableError,
    UnreadableObjectError,
)
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Change, List, Relisted, Selection
from evenkeel.ports import Arrival, Reply

SHORTEST, LONGEST = 240, 300
"""Seconds after which the server may end a watch; spread, so that not all end at once."""

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 3.0


class Watch[T: KubernetesObject]:
    """Delivers a Relisted and then Changes until it is stopped.

    A stream that ends, also without an error, goes on from the last resource version seen; one
    that has fallen too far behind (410), says nothing at all, or shows more of one namespace than a
    list may keep of it, begins with a new list. A refusal
    is delivered once, as the Reply of a List, and the watch is tried again and again with pauses.
    An object that can no longer be read has left the selection. If a stream brings bytes that are
    no event twice at one resource version, that is delivered like a refusal, and a new list
    follows.
    """

    def __init__(
        self,
        transport: Transport,
        selection: Selection[T],
        deliver: Callable[[Arrival], None],
        jitter: random.Random | None = None,
        stopping: Event | None = None,
    ) -> None:
        """The thread starts at once. It pauses by waiting for ``stopping``."""
        self._transport = transport
        self._selection = selection
        self._deliver = deliver
        self._jitter = jitter or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._stopping = stopping or Event()
        self._lock = Lock()
        self._response: Response | None = None
        self._version = ""
        self._room = Room()
        self._failed_at = ""
        self._fruitless = 0
        self._complained = False
        name = f"evenkeel-watch-{selection.kind.resource.plural}"
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Deliver nothing any more. The thread ends at once, or with the list that it reads."""
        with self._lock:
            self._stopping.set()
            if self._response is not None:
                # Wakes the thread out of its wait for bytes. Harmless if they just ended.
                with contextlib.suppress(RuntimeError, ValueError, OSError):
                    self._response.shutdown()

    def join(self, seconds: float) -> None:
        """Wait for the thread to end, so long at most."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._rest(self._try())
            except Exception as error:  # noqa: BLE001 - a thread must not end without a word
                self._complain(ClusterError(f"watch {self._selection}: {error!r}"))
                self._stopping.wait(LONGEST_PAUSE)

    def _try(self) -> float:
        """List if need be, and follow to the stream's end. How long the server asks to wait."""
        try:
            if not self._version:
                listing = read_list(self._transport, List(self._selection))
                self._put(Relisted(self._selection, listing))
                self._version, self._room = listing.resource_version, Room()
            try:
                self._follow()
            except (ExpiredError, SilentError):
                # Nobody can go on from a version that is too old, nor from one that is yet to come,
                # where etcd was restored from a backup: the API server then says nothing, not even
                # a bookmark.
                self._version = ""
        except ClusterError as error:
            self._complain(error)
            return error.retry_after if isinstance(error, ThrottledError) else 0.0
        return 0.0

    def _follow(self) -> None:
        """Deliver changes until the server ends the stream. Raises ClusterError."""
        seconds = self._jitter.randint(SHORTEST, LONGEST)
        call = wire.watch(self._selection, self._version, seconds)
        with self._transport.stream(call) as response, self._interruptible(response):
            for line in lines(response.stream(BITE)):
                try:
                    self._see(line, call.what)
                except UnavailableError:
                    if self._version == self._failed_at:
                        self._version = ""
                    self._failed_at = self._version
                    raise
                self._fruitless = 0
                self._complained = False

    def _see(self, line: bytes, what: str) -> None:
        event = expected(WatchEvent, line, what)
        if event.type == "ERROR":
            body = bytes(event.object)
            raise failure(what, read_status(body).code, body)
        if event.type == "BOOKMARK":
            self._version = read_version(event.object, what)
            return
        try:
            changed = read_object(self._selection.kind, event.object, what)
            deleted = event.type == "DELETED"
        except UnreadableObjectError as error:
            self._transport.left_out([error])
            changed, deleted = read_metadata(self._selection.kind, event.object, what), True
        self._put(Change(self._selection, changed, deleted=deleted))
        self._version = changed.metadata.resource_version
        if not (deleted or self._room.takes(changed)):
            # What is there of them all, a new list tells: many may be changes of a few.
            raise ExpiredError(f"{what}: much of {self._room.of(changed)} has changed")

    @contextlib.contextmanager
    def _interruptible(self, response: Response) -> Iterator[None]:
        """Let ``stop`` reach the stream while it is read."""
        with self._lock:
            self._response = response
            if self._stopping.is_set():
                response.close()
        try:
            yield
        finally:
            with self._lock:
                self._response = None

    def _put(self, arrival: Arrival) -> None:
        with self._lock:
            if not self._stopping.is_set():
                self._deliver(arrival)

    def _complain(self, error: ClusterError) -> None:
        """Deliver an error to the owner, once; that a stream broke is no such error."""
        passing = self._version and isinstance(error, UnavailableError | ThrottledError)
        if not passing and not self._complained:
            self._complained = True
            self._put(Reply(List(self._selection), error=error))

    def _rest(self, asked: float) -> None:
        """Pause before the next try: not after progress, then longer each time.

        ``asked``: so many seconds at least, as the server asks.
        """
        spread = 0.5 + self._jitter.random() / 2
        own = min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._fruitless) if self._fruitless else 0.0
        if pause := max(asked, own * spread):
            self._stopping.wait(pause)
        self._fruitless += 1


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The whole lines in a stream of chunks; half a line at its end is dropped.

    Raises TooLargeError.
    """
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from filter(None, whole)
        if len(rest) > MOST_BYTES:
            raise TooLargeError(f"a line of a watch has more than {MOST_BYTES} bytes")
