"""From Lambda's event shapes to the flows, and back to Lambda's answers.

Each module has a ``build`` that takes everything the handler needs. The Lambda functions,
the command, the demo and the tests all call that same ``build``.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

type Handler = Callable[[dict[str, Any], object], dict[str, Any]]
"""Takes Lambda's event and context, answers what Lambda's event source expects."""


@runtime_checkable
class Context(Protocol):
    """What handlers use of Lambda's context object.

    https://docs.aws.amazon.com/lambda/latest/dg/python-context.html
    """

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation is stopped."""
        ...


def time_left(context: object) -> Callable[[], timedelta] | None:
    """How long from now until an invocation is stopped; None if its context does not say."""
    if not isinstance(context, Context):
        return None
    return lambda: timedelta(milliseconds=context.get_remaining_time_in_millis())


class Lazy:
    """A handler that is built when the first event arrives.

    So importing a function's module opens no connection and needs no settings. A ``connect``
    that fails raises to the caller, and is tried again with the next event: a container that
    once met a bad moment is not broken for good.
    """

    def __init__(self, connect: Callable[[], Handler]) -> None:
        self._connect = connect
        self._handler: Handler | None = None

    def bind(self, handler: Handler) -> None:
        """Use this handler from now on, instead of building one."""
        self._handler = handler

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        """Handle one event. Raises what ``connect`` and the handler raise."""
        if self._handler is None:
            self._handler = self._connect()
        return self._handler(event, context)
