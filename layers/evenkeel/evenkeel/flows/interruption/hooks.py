"""How long an Auto Scaling group waits for a lifecycle hook, and that it need not."""

import msgspec

from evenkeel.decisions.notice.result import Again, Result, acknowledged
from evenkeel.errors import LifecycleError, NoLifecycleActionError
from evenkeel.model.hook import Hook, Termination
from evenkeel.model.notice import Notice
from evenkeel.model.reasons import Reason
from evenkeel.ports import LifecycleActions


class HookTimer:
    """Asks for the hooks' times of one delivery of notices.

    The first question without an answer is the last: other notices wait for it.
    """

    def __init__(self, lifecycle: LifecycleActions | None) -> None:
        """``lifecycle`` None: no hooks are heeded."""
        self._lifecycle = lifecycle
        self._silence: LifecycleError | None = None

    def timed(self, notice: Notice, hook: Hook) -> Notice | Result:
        """The notice with a deadline by which its hook is answered.

        Else what becomes of the notice: it comes again until EC2 Auto Scaling answers, and it is of
        no use if the group does not wait.
        """
        times = None
        try:
            if self._lifecycle is not None and self._silence is None:
                times = self._lifecycle.times(hook.group, hook.name)
        except LifecycleError as error:
            self._silence = error
        if self._silence is not None:
            return self._again
        if times is None:
            message = f"the group {hook.group} has no lifecycle hook {hook.name} for terminations"
            return acknowledged(notice.instance_id, Reason.NO_LIFECYCLE_HOOK, message)
        return msgspec.structs.replace(
            notice,
            deadline=min(notice.deadline, notice.time + times.longest),
            hook=msgspec.structs.replace(hook, heartbeat=int(times.heartbeat.total_seconds())),
        )

    def let_go_on(self, notice: Notice, hook: Hook, why: str) -> Result:
        """What becomes of a notice of an instance that is no node: its group may go on.

        The notice comes again until EC2 Auto Scaling answers.
        """
        message = f"{why}: the group {hook.group} does not wait for {hook.name} any more"
        reason = Reason.LIFECYCLE_ACTION_GONE
        try:
            if self._lifecycle is not None and self._silence is None:
                self._lifecycle.complete(Termination(hook, notice.instance_id))
                message = f"{why}: the group {hook.group} may go on"
                reason = Reason.LIFECYCLE_ACTION_COMPLETED
        except NoLifecycleActionError:
            pass
        except LifecycleError as error:
            self._silence = error
        if self._silence is not None:
            return self._again
        return acknowledged(notice.instance_id, reason, message)

    @property
    def _again(self) -> Again:
        message = f"EC2 Auto Scaling does not answer: {self._silence}"
        return Again(Reason.NO_ANSWER_FROM_AUTO_SCALING, message)
