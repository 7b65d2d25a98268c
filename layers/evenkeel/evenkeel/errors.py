"""What can go wrong, in one hierarchy. Adapters translate foreign errors into these, once.

EvenkeelError
|-- SettingsError                 an environment variable is missing or malformed
|-- MalformedNoticeError          an event lacks a field or has a bad one
|-- MalformedWakeUpError          a wake-up message is not one of ours
|-- MalformedEventError           what invoked a function is no event of its event source
|-- NotDoneError                  an event has to come again, and no queue brings it
|-- UnreadableError               JSON is not what it should be
|-- NothingDoneError              a scheduled invocation could not read what it needs
|-- ClusterError                  the Kubernetes API said no, or nothing
|   |-- NotFoundError             404
|   |-- ChangedError              something was written meanwhile: read again
|   |   |-- AlreadyExistsError    409 on create
|   |   |-- ConflictError         409
|   |   `-- InvalidError          422: a failed test, or a bad object
|   |-- ExpiredError              410: the resource version is too old
|   |-- ForbiddenError            403: RBAC, or an admission plugin such as quota
|   |-- UnauthenticatedError      401
|   |-- DisruptionRefusedError    429 with the cause DisruptionBudget
|   |-- MultipleBudgetsError      500 on eviction: several budgets select the pod
|   |-- UndoneError               accepted, and the reply lacks what was asked for
|   |-- UnreadableObjectError     an answer holds an object that cannot be read
|   |-- TooLargeError             an answer has more bytes than are read at once
|   |-- ThrottledError            429 without that cause, 503: retry_after seconds
|   `-- UnavailableError          5xx, reset, timeout: the outcome is unknown
|-- InstancesError                EC2 said no, or nothing
|-- LifecycleError                EC2 Auto Scaling said no, or nothing
|   `-- NoLifecycleActionError    it does not wait for this, or not any more
|-- NotificationError             what takes notifications said no, or nothing
`-- QueueError                    SQS said no, or nothing
"""

from datetime import datetime


class EvenkeelError(Exception):
    """Base of all errors that Evenkeel raises on purpose."""


class SettingsError(EvenkeelError):
    """An environment variable is missing or malformed; the message says what it should be."""


class MalformedNoticeError(EvenkeelError):
    """An event cannot be read as a notice; ``field`` is the path of the field at fault."""

    def __init__(self, field: str, problem: str) -> None:
        """Keep the path of the field, such as ``detail.instance-id``, and what is wrong."""
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class MalformedWakeUpError(EvenkeelError):
    """A message of the wake-up queue is not a wake-up."""


class MalformedEventError(EvenkeelError):
    """What invoked a function has not the shape of its event source's events."""


class NotDoneError(EvenkeelError):
    """An event without a queue that would bring it again has to come again; it says why.

    It is raised for Lambda, which tries an event twice more that nobody waits for.
    """


class UnreadableError(EvenkeelError):
    """A JSON document is malformed, or not what is expected; the message says where."""


class NothingDoneError(EvenkeelError):
    """A scheduled invocation could not even read what it needs; the message says the remedy.

    It is not retried, but raised for Lambda's metric Errors.
    """


class ClusterError(EvenkeelError):
    """The Kubernetes API refused a request or did not answer it."""

    warnings: tuple[str, ...] = ()
    """What webhooks had to say of the request, as kubectl shows it."""

    date: datetime | None = None
    """The API server's time when it refused, in whole seconds; None where it told none."""


class NotFoundError(ClusterError):
    """There is no such object (404)."""


class ChangedError(ClusterError):
    """The object is not as it was read, as far as that can be told: read again."""


class AlreadyExistsError(ChangedError):
    """An object of this name is there already (409 on create)."""


class ConflictError(ChangedError):
    """The object changed meanwhile, or has another uid (409)."""


class InvalidError(ChangedError):
    """A test of the patch failed, or the object would be invalid (422)."""


class ExpiredError(ClusterError):
    """The resource version is too old for a watch (410): list again."""


class ForbiddenError(ClusterError):
    """RBAC or an admission plugin forbids it (403)."""


class UnauthenticatedError(ClusterError):
    """The API server refuses the credentials (401), also with a new token."""


class DisruptionRefusedError(ClusterError):
    """A PodDisruptionBudget refuses the eviction for now (429 with that cause).

    So may a webhook. ``retry_after`` is in seconds, 0 if the server does not say.
    """

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        """Keep how many seconds the server asked to wait."""
        super().__init__(message)
        self.retry_after = retry_after


class MultipleBudgetsError(ClusterError):
    """More than one PodDisruptionBudget selects the pod: it can never be evicted (500)."""


class UndoneError(ClusterError):
    """A write was accepted, and the reply shows it undone: a webhook or a policy took it back."""


class UnreadableObjectError(ClusterError):
    """The API server answered with an object that cannot be read, now or later."""


class TooLargeError(ClusterError):
    """The answer has more bytes than are read at once: ask for less."""


class ThrottledError(ClusterError):
    """The API server has too much to do (429, 503); ``retry_after`` is in seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        """Keep how many seconds the server asked to wait."""
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(ClusterError):
    """No usable answer (5xx, reset, timeout): the request may have been carried out or not."""


class InstancesError(EvenkeelError):
    """EC2 refused a request or did not answer it."""


class LifecycleError(EvenkeelError):
    """EC2 Auto Scaling refused a request or did not answer it."""


class NoLifecycleActionError(LifecycleError):
    """EC2 Auto Scaling knows no such group, hook or token, or does not wait any more."""


class NotificationError(EvenkeelError):
    """EventBridge, or who answers at a URL, refused a notification or did not answer."""


class QueueError(EvenkeelError):
    """SQS refused a request or did not answer it."""
