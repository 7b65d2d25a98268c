"""A stack in any of CloudFormation's states, brought to one in which it can be changed or made."""

from datetime import timedelta
from typing import Final

from evenkeel_cli.aws.asking import Nothing
from evenkeel_cli.aws.stack import NOT_MADE, Stack
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.change_set import by_role
from evenkeel_cli.install.following import EVERY, Following
from evenkeel_cli.install.site import Site

NEVER_MADE: Final = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""What a failed creation, or deletion, left: it can only be deleted."""
STUCK: Final = "UPDATE_ROLLBACK_FAILED"
"""The status after an update whose rollback failed: it can only be continued."""
GONE: Final = "DELETE_COMPLETE"
MOST: Final = 5
"""An operation that is followed, its rollback that is continued, and some that others begin."""
UNSEEN: Final = timedelta(minutes=5)
"""How long a stack of which nothing was made may still be seen after it was deleted."""


def found(site: Site) -> Stack | None:
    """The stack; None if there is none. Raises UnmetError where it is another cluster's."""
    stack = site.stack()
    if stack is None or stack.status == NOT_MADE or stack.cluster == site.place.cluster:
        return stack
    raise UnmetError(
        f"{stack.name} is for the cluster {stack.cluster or 'of no name'}: name another stack by"
        " --stack-name"
    )


def at_rest(site: Site) -> Stack | None:
    """The stack once nothing is under way: until then its parameters may be taken back.

    What is under way is followed, and a rollback that got stuck is continued. Raises UnmetError
    where that does not help.
    """
    for _ in range(MOST):
        stack = found(site)
        if stack is not None and stack.is_under_way:
            following(site, stack).to_the_end()
        elif stack is not None and stack.status == STUCK:
            _continue(site, stack)
        else:
            return stack
    raise UnmetError(f"{site.place.stack_name} does not come to rest: look at its events")


def settled(site: Site) -> Stack | None:
    """The stack once it can be changed; None where it is to be made. What failed is deleted."""
    stack = at_rest(site)
    if stack is not None and stack.status in NEVER_MADE:
        delete(site, stack)
        return None
    return None if stack is None or stack.status == NOT_MADE else stack


def following(site: Site, stack: Stack) -> Following:
    """What follows the operations of this stack."""
    return Following(site.aws, site.clock, stack.id, site.say)


def delete(site: Site, stack: Stack) -> None:
    """Delete a stack and wait until it is gone. Raises UnmetError where it is not."""
    events = following(site, stack)
    newest = events.newest()
    role = by_role(site.place.role_arn)
    site.aws.ask("cloudformation", "delete_stack", Nothing, StackName=stack.id, **role)
    if stack.status == NOT_MADE:
        _await_absence(site)
        return
    ended = events.to_the_end(newest, stack.ids)
    if ended.status != GONE:
        raise UnmetError(f"{stack.name} is {ended.status}: {ended.failure}")


def _await_absence(site: Site) -> None:
    """Of a stack of which nothing was made no event tells that it is gone."""
    give_up = site.clock.now() + UNSEEN
    while (stack := site.stack()) is not None:
        if site.clock.now() >= give_up:
            raise UnmetError(f"{stack.name} is still there after {UNSEEN}: look at its events")
        site.clock.sleep(EVERY)


def _continue(site: Site, stack: Stack) -> None:
    events = following(site, stack)
    newest = events.newest()
    role = by_role(site.place.role_arn)
    name = {"StackName": stack.id}
    site.aws.ask("cloudformation", "continue_update_rollback", Nothing, **name, **role)
    ended = events.to_the_end(newest)
    if ended.status == STUCK:
        raise UnmetError(
            f"the rollback of {stack.name} cannot be continued: {ended.failure}; mend that"
        )
