"""What the flows need from outside. Each Protocol has a real adapter and an in-memory one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol, Self

from evenkeel.errors import ClusterError
from evenkeel.model.decision import Decision
from evenkeel.model.hook import HookTimes, Termination
from evenkeel.model.instance import Instance
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import WakeUp
from evenkeel.model.notification import Notification
from evenkeel.model.pod_count import PodCount
from evenkeel.model.request import Change, Listing, Relisted, Request, Selection


class Clock(Protocol):
    """The time. Real, or moved by the simulator."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Return when this much time has passed."""
        ...

    def boot(self) -> timedelta:
        """How long ago the machine was started, the time in which it slept included.

        This clock is never set back; its zero means nothing.
        """
        ...


type TimeLeft = Callable[[], timedelta]
"""How long from now something may still be done."""

type OnReply = Callable[[Reply], None]
"""Called with the reply to one request."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request: its result, or the error that it met.

    ``date`` is the API server's time when it answered, in whole seconds (the header Date): None
    without that header, and for a list. ``then`` is what the submitter of the request does with it.
    """

    request: Request
    result: KubernetesObject | Listing[KubernetesObject] | None = None
    error: ClusterError | None = None
    date: datetime | None = field(default=None, compare=False)
    then: OnReply | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Done:
    """Work that was started beside the caller has ended; ``then`` takes its result."""

    then: Callable[[], None]


type Arrival = Reply | Done | Change[KubernetesObject] | Relisted[KubernetesObject]
"""What a session's mailbox delivers."""


type OnDone[T] = Callable[[Future[T]], None]
"""Called with the result of work, or what it raised, in a future that is done."""


class Background(Protocol):
    """Carries out work for which the caller cannot wait."""

    def start[T](self, work: Callable[[], T], then: OnDone[T] | None = None) -> Future[T]:
        """Carry out work beside the caller, and never block. The work has to end by itself.

        When it has, ``then`` arrives in the mailbox, and takes the future with its result.
        """
        ...


def fulfil[T](future: Future[T], work: Callable[[], T], then: OnDone[T] | None) -> Done:
    """Carry out a Background's work: its result, or what it raises, is the future's."""
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 - raised again where the result is taken
        future.set_exception(error)
    return Done((lambda: None) if then is None else partial(then, future))


class Session(Background, Protocol):
    """Requests and watches of one piece of work, all answered in one mailbox.

    Other work can be started beside them; its end arrives in the mailbox, too.

    Its owner is a single thread; what runs in parallel behind it is the adapter's business.
    Requests to one object are carried out in the order in which they were submitted only if
    the owner waits for the reply in between.
    """

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Send a request; its Reply arrives in the mailbox. Never blocks on the network.

        ``then`` comes back with the reply, and the loop that takes the reply from the mailbox calls
        it. ``left``: how long from now the request may be tried. No try begins, and no pause before
        one, once no time is left; the reply is an UnavailableError then.
        """
        ...

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        """List and watch a selection until the session closes.

        First a Relisted arrives, then Changes; after an interruption that lost the thread
        (410) a Relisted again. Watching a selection twice changes nothing.
        """
        ...

    def unwatch(self, selection: Selection[KubernetesObject]) -> None:
        """Stop watching a selection; what has arrived of it stays in the mailbox."""
        ...

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything in the mailbox, oldest first; waits up to ``timeout`` for a first one.

        Empty when nothing arrived in time.
        """
        ...

    @property
    def in_flight(self) -> int:
        """How many submitted requests have no reply in the mailbox yet."""
        ...

    @property
    def capacity(self) -> int:
        """How many requests are carried out at once; more would only queue up.

        Half of them is what an API server should get, all what it gets where nothing can wait.
        """
        ...

    def __enter__(self) -> Self:
        """Use the session in a with statement."""
        ...

    def __exit__(self, *exc_info: object) -> None:
        """End all watches, and wait (bounded) for the requests under way."""
        ...


class Cluster(Protocol):
    """A Kubernetes API server.

    Replies carry errors of the hierarchy in evenkeel.errors. What the server refused before
    doing anything (429 without a budget's cause, 503) was tried again within bounds, so were
    reads that met a reset or a timeout; writes whose fate is unknown were not.
    """

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests, several at once, and return when all have their reply.

        The replies stand in the order of the requests.
        """
        ...

    def session(self) -> Session:
        """Open a session."""
        ...


class Instances(Protocol):
    """EC2's knowledge of instances."""

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """The instances among these that EC2 knows, by id. Unknown ids are just absent.

        Raises InstancesError.
        """
        ...


class LifecycleActions(Protocol):
    """EC2 Auto Scaling's terminations that wait for a lifecycle hook.

    Its methods raise LifecycleError; NoLifecycleActionError where it does not wait for this, or
    not any more.
    """

    def times(self, group: str, name: str) -> HookTimes | None:
        """How long a group waits for a hook; None if it has none of this name for terminations."""
        ...

    def record_heartbeat(self, termination: Termination) -> None:
        """Let the group wait on, for as long again as the hook's heartbeat timeout."""
        ...

    def complete(self, termination: Termination) -> None:
        """Let the group go on and terminate the instance."""
        ...


class Notifications(Protocol):
    """Takes what is told of interruptions."""

    def send(self, notification: Notification) -> None:
        """Send one, once; what is sent again has the same id and phase.

        Raises NotificationError.
        """
        ...


class Queue(Protocol):
    """One SQS queue, as a function uses it that receives from it or wakes its reader.

    Its methods raise QueueError.
    """

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        """Send a wake-up that becomes visible after ``delay`` (at most 15 minutes)."""
        ...

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        """Make a received message visible again after ``delay`` (at most 12 hours)."""
        ...


class Journal(Protocol):
    """Takes counts, and lines for people."""

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Count something; ``value`` is in the metric's unit."""
        ...

    def noted(self, message: str, **details: object) -> None:
        """Log something that is no decision about an object. Never a secret."""
        ...


class Recorder(Journal, Protocol):
    """Takes all that is recorded: for logs, metrics, Kubernetes Events, the decision log."""

    def decided(self, decision: Decision) -> None:
        """Record one decision."""
        ...

    def counted_pods(self, count: PodCount) -> None:
        """Record how many pods of a workload are available."""
        ...

    def flush(self) -> None:
        """Hand on what is still held back: aggregated Events, metrics.

        Called at the end of an invocation, and beside one that works for minutes.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """What a function acts on, besides queues.

    ``lifecycle`` is needed only where a lifecycle hook is heeded. ``notifications`` None: nobody is
    told of interruptions.
    """

    cluster: Cluster
    instances: Instances
    clock: Clock
    recorder: Recorder
    lifecycle: LifecycleActions | None = None
    notifications: Notifications | None = None
