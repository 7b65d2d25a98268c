"""What has to hold in each state of a small world, and in those in which it comes to rest."""

from evenkeel.flows.drain.cache.streams import FRESH_FOR
from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import is_ready, labels_of, node_of, uid_of
from tests.property import levels
from tests.property.walk.ground import DYING
from tests.property.walk.world import World


def dip(before: World, after: World) -> str:
    """How a step made fewer pods serve than there have to be; empty if it did not.

    A pod that the one failure took is excused while it is not Ready, but for evictions that were
    sent when the watches should have shown it.
    """
    had, has = before.ground.available, after.ground.available
    if has >= min(had, after.replicas) or after.is_last_moment:
        return ""
    if after.failed and after.failed != before.failed:
        return ""  # the failure itself
    if has == after.replicas - 1 and _excuses(before, after):
        return ""
    return f"{has} of {after.replicas} pods serve, and {had} did before"


def _excuses(before: World, after: World) -> bool:
    """Whether a pod is not Ready by the failure, and nothing landed that was sent long after it."""
    pods = before.ground.pods
    if not any(uid_of(pod) == before.failed and not is_ready(pod) for pod in pods):
        return False
    waiting = {each.number for each in (*after.under_way, *after.dead) if not each.has_landed}
    return not any(
        each.at > before.failed_at + FRESH_FOR
        for each in (*before.under_way, *before.dead)
        if not each.has_landed and each.number not in waiting
    )


def stale(world: World) -> str:
    """Which plan would be another if it were made anew; empty if none would be."""
    if world.brain is None:
        return ""
    return "; ".join(levels.forgotten(levels.look_into(world.brain.loop)))


def unrest(world: World) -> str:
    """What is wrong in a state in which nothing happens any more; empty if nothing is."""
    pods = world.ground.pods
    left = [uid_of(pod) for pod in pods if node_of(pod) == DYING]
    if left:
        return f"{len(left)} pods are left on the dying node"
    released = [uid_of(pod) for pod in pods if names.RELEASED_FROM in labels_of(pod)]
    if released:
        return f"{len(released)} pods stay released"
    serve = sum(map(is_ready, pods))
    return "" if serve == len(pods) == world.replicas else f"{serve} pods serve in the end"
