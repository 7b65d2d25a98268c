"""EC2 Auto Scaling's lifecycle hooks.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeLifecycleHooks.html
https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_RecordLifecycleActionHeartbeat.html
https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CompleteLifecycleAction.html
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from evenkeel.adapters.aws.clients import CONFIG, Client
from evenkeel.errors import LifecycleError, NoLifecycleActionError
from evenkeel.model.hook import HookTimes, Termination

ONCE: Final = CONFIG.merge(Config(retries={"total_max_attempts": 1}))
"""One attempt, of three seconds: the caller tries again by itself, and has other nodes to serve."""

TERMINATING: Final = "autoscaling:EC2_INSTANCE_TERMINATING"

INVALID: Final = "ValidationError"
"""The code by which Auto Scaling refuses a group, a hook or a token that it does not know.

It has none for these alone. But all parameters of the calls here come from an event of its own, so
none of them is malformed.
"""


class AutoScaling:
    """Implements the port LifecycleActions.

    Needs the permissions autoscaling:DescribeLifecycleHooks to ask for times, and
    autoscaling:RecordLifecycleActionHeartbeat and autoscaling:CompleteLifecycleAction for the rest.
    """

    def __init__(self, region: str, client: Any = None) -> None:
        """``client`` None: one is made for the first call."""
        self._connected = Client("autoscaling", region, ONCE, client)

    def times(self, group: str, name: str) -> HookTimes | None:
        """How long a group waits for a hook; None if it has none of this name. LifecycleError."""
        try:
            with _translating("DescribeLifecycleHooks"):
                answer = self._connected().describe_lifecycle_hooks(
                    AutoScalingGroupName=group, LifecycleHookNames=[name]
                )
        except NoLifecycleActionError:
            return None
        for hook in answer.get("LifecycleHooks", []):
            if hook["LifecycleHookName"] == name and hook["LifecycleTransition"] == TERMINATING:
                return HookTimes(
                    timedelta(seconds=hook["HeartbeatTimeout"]),
                    timedelta(seconds=hook["GlobalTimeout"]),
                )
        return None

    def record_heartbeat(self, termination: Termination) -> None:
        """Let the group wait on. Raises LifecycleError."""
        with _translating("RecordLifecycleActionHeartbeat"):
            self._connected().record_lifecycle_action_heartbeat(**_named(termination))

    def complete(self, termination: Termination) -> None:
        """Let the group go on. Raises LifecycleError."""
        with _translating("CompleteLifecycleAction"):
            self._connected().complete_lifecycle_action(
                **_named(termination), LifecycleActionResult="CONTINUE"
            )


def _named(termination: Termination) -> dict[str, str]:
    hook = termination.hook
    return {
        "AutoScalingGroupName": hook.group,
        "LifecycleHookName": hook.name,
        "LifecycleActionToken": hook.token,
        "InstanceId": termination.instance_id,
    }


@contextmanager
def _translating(action: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        kind = LifecycleError
        if error.response.get("Error", {}).get("Code") == INVALID:
            kind = NoLifecycleActionError
        raise kind(f"{action} failed: {error}") from error
    except ParamValidationError as error:
        raise NoLifecycleActionError(f"{action} takes no such name or token: {error}") from error
    except BotoCoreError as error:
        raise LifecycleError(f"{action} failed: {error}") from error
