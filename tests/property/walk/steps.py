"""What can happen next in a world, one thing at a time."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from evenkeel.errors import DisruptionRefusedError, UnavailableError
from evenkeel.flows.drain.cache.streams import FRESH_FOR
from evenkeel.model import names
from evenkeel.model.request import Delete, Evict, Get, List, Patch
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    controller_of,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    uid_of,
)
from tests.property.walk.ground import Engine, Ground
from tests.property.walk.session import Sent
from tests.property.walk.world import World

type Step = tuple[str, Callable[[World], object]]

A_MOMENT = FRESH_FOR + timedelta(milliseconds=100)
BEFORE_THE_END = timedelta(seconds=31)
"""A pod's grace period and a second."""


def steps(world: World) -> Iterator[Step]:
    """All steps that can be next. Time passes where nothing else can happen."""
    is_calm = True
    for step in calm(world):
        is_calm = False
        yield step
    if is_calm and world.brain is not None:
        yield "time passes", _wait
    yield from _troubles(world)


def calm(world: World) -> Iterator[Step]:
    """The steps that happen by themselves, sooner or later.

    A pod takes longer to end than anything else: the first that was told to go ends when nothing
    else is left to happen.
    """
    found = False
    for step in _soon(world):
        found = True
        yield step
    leaving = [pod for pod in world.ground.of_kind("Pod") if is_leaving(pod)]
    if leaving and not found:
        pod = leaving[0]
        yield f"{name_of(pod)} ends", partial(_at_server, partial(_end, key_of(pod)))


def _soon(world: World) -> Iterator[Step]:
    yield from _of_the_cluster(world.ground, world.replicas)
    for position, sent in enumerate(world.under_way):
        if sent.has_landed:
            yield f"the reply to {told(sent)} arrives", partial(_reply, position)
        else:
            yield f"{told(sent)} lands", partial(_land, position)
    if world.is_coarse:
        if any(stream for _, stream in world.streams):
            yield "watches show all", _show_all
    else:
        for position, (_, stream) in enumerate(world.streams):
            if stream:
                change = stream[0]
                how = "leaves" if change.deleted else "shows"
                yield f"watch {position} {how} {change.object.name[-2:]}", partial(_show, position)
    for position, sent in enumerate(world.dead):
        yield f"{told(sent)} of the dead holder lands", partial(_land_late, position)
    if world.brain is None and world.is_needed:
        yield "an invocation begins", World.begin


def _of_the_cluster(ground: Ground, replicas: int) -> Iterator[Step]:
    if _is_replica_set_off(ground, replicas):
        yield "the ReplicaSet controller works", partial(_at_server, _replace)
    for pod in ground.pods:
        if not is_ready(pod):
            ready = partial(_set_ready, key_of(pod), "True")
            yield f"{name_of(pod)} gets Ready", partial(_at_server, ready)


def _troubles(world: World) -> Iterator[Step]:
    left, holder = world.troubles, world.brain
    if left.crashes and holder is not None:
        yield "the holder dies", _die
    if left.moments and holder is not None and not world.is_last_moment:
        yield "a moment passes", _stand_still
    if left.last_moments and holder is not None:
        yield "the last moment comes", _come_to_the_end
    if not left.failures:
        return
    for pod in filter(is_ready, world.ground.pods):
        yield f"{name_of(pod)} fails", partial(_fail, key_of(pod), uid_of(pod))
    for position, sent in enumerate(world.under_way):
        if sent.has_landed or not sent.is_write:
            continue
        if isinstance(sent.request, Evict):
            yield f"a budget refuses {told(sent)}", partial(_refuse, position)
        yield f"{told(sent)} lands, and nobody hears of it", partial(_lose_reply, position)
        yield f"{told(sent)} is lost, and nobody hears of it", partial(_lose, position)


# Deeds.


def _at_server(deed: Callable[[Engine], object], world: World) -> None:
    world.do(deed)


def _replace(engine: Engine) -> None:
    engine.replace_pods()


def _end(key: Key, engine: Engine) -> None:
    engine.end(key)


def _set_ready(key: Key, status: str, engine: Engine) -> None:
    engine.set_ready(key, status)


def _land(position: int, world: World) -> None:
    sent = world.under_way[position]
    world.put(position, world.land(sent))
    if world.is_coarse or not sent.is_write:
        _reply(position, world)


def _land_late(position: int, world: World) -> None:
    sent = world.dead[position]
    world.dead = [each for each in world.dead if each is not sent]
    world.land(sent)


def _reply(position: int, world: World) -> None:
    sent = world.under_way[position]
    world.under_way = [each for each in world.under_way if each is not sent]
    world.hear(lambda session: session.answer(sent))


def _show(position: int, world: World) -> None:
    streams = list(world.streams)
    selection, (first, *rest) = streams[position]
    streams[position] = selection, tuple(rest)
    world.streams = streams
    world.hear(lambda session: session.mailbox.append(first))


def _show_all(world: World) -> None:
    shown = [change for _, stream in world.streams for change in stream]
    world.streams = [(selection, ()) for selection, _ in world.streams]
    world.hear(lambda session: session.mailbox.extend(shown))


def _wait(world: World) -> None:
    world.wait()


def _stand_still(world: World) -> None:
    world.troubles = world.troubles._replace(moments=world.troubles.moments - 1)
    world.pass_time(A_MOMENT)


def _come_to_the_end(world: World) -> None:
    world.troubles = world.troubles._replace(last_moments=world.troubles.last_moments - 1)
    world.is_last_moment = True
    world.pass_time(world.deadline - BEFORE_THE_END - world.now)


def _die(world: World) -> None:
    world.troubles = world.troubles._replace(crashes=world.troubles.crashes - 1)
    dead = [sent for sent in world.under_way if sent.is_write and not sent.has_landed]
    world.stop()
    world.dead = dead


def _fail(key: Key, uid: str, world: World) -> None:
    _count_failure(world)
    world.do(partial(_set_ready, key, "False"))
    world.failed, world.failed_at = uid, world.now


def _refuse(position: int, world: World) -> None:
    _count_failure(world)
    world.put(position, DisruptionRefusedError("a budget refuses"))


def _lose_reply(position: int, world: World) -> None:
    world.land(world.under_way[position])
    _lose(position, world)


def _lose(position: int, world: World) -> None:
    _count_failure(world)
    world.put(position, UnavailableError("nobody knows what came of it"))


def _count_failure(world: World) -> None:
    world.troubles = world.troubles._replace(failures=world.troubles.failures - 1)


# Words.


def _is_replica_set_off(ground: Ground, replicas: int) -> bool:
    """Whether the ReplicaSet controller has anything to do."""
    owned = 0
    for pod in ground.pods:
        is_selected = labels_of(pod).get(names.TEMPLATE_HASH) == ground.template_hash
        controller = controller_of(pod)
        if is_selected != (controller is not None and controller["kind"] == "ReplicaSet"):
            return True
        owned += is_selected
    return owned != replicas


def name_of(pod: Obj) -> str:
    """A pod's name in a path of steps."""
    return f"pod {pod['metadata']['name'][-2:]}"


def told(sent: Sent) -> str:
    """A request in a path of steps."""
    request = sent.request
    match request:
        case Evict() | Delete():
            return f"{type(request).__name__} of {request.name[-2:]}"
        case Patch():
            what = "Release" if names.released_hash("") in repr(request.body) else "Roll-back"
            return f"{what} of {request.name[-2:]}"
        case Get():
            return f"Get of {request.name[-2:]}"
        case List():
            return "List"
        case _:
            return type(request).__name__
