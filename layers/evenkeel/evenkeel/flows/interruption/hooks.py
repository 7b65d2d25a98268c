"""How long an Auto Scaling group waits for a lifecycle hook: its event does not say."""

from dataclasses import dataclass

import msgspec

from evenkeel.errors import LifecycleError
from evenkeel.model.notice import Notice
from evenkeel.ports import LifecycleActions


@dataclass(frozen=True, slots=True)
class NoHook:
    """The group does not wait: the notice is of no use."""

    message: str


@dataclass(frozen=True, slots=True)
class Silent:
    """EC2 Auto Scaling did not answer: the notice comes again."""

    message: str


class HookTimer:
    """Asks for the hooks' times of one delivery of notices.

    The first question without an answer is the last: other notices wait for it.
    """

    def __init__(self, lifecycle: LifecycleActions | None) -> None:
        """``lifecycle`` None: no hooks are heeded."""
        self._lifecycle = lifecycle
        self._silence: LifecycleError | None = None

    def timed(self, notice: Notice) -> Notice | NoHook | Silent:
        """The notice with a deadline by which its hook is answered; one without a hook as it is."""
        hook, times = notice.hook, None
        if hook is None:
            return notice
        try:
            if self._lifecycle is not None and self._silence is None:
                times = self._lifecycle.times(hook.group, hook.name)
        except LifecycleError as error:
            self._silence = error
        if self._silence is not None:
            return Silent(f"EC2 Auto Scaling does not answer: {self._silence}")
        if times is None:
            return NoHook(
                f"the group {hook.group} has no lifecycle hook {hook.name} for terminations"
            )
        return msgspec.structs.replace(
            notice,
            deadline=min(notice.deadline, notice.time + times.longest),
            hook=msgspec.structs.replace(hook, heartbeat=int(times.heartbeat.total_seconds())),
        )
