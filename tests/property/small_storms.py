"""Small storms of random workloads, and the log of what happens to them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from evenkeel.adapters.telemetry import decision_log
from evenkeel.model import names
from evenkeel_cli.history.cutting import Record
from tests.kit.manifests import RECREATE, deployment, stateful_set
from tests.kit.scene import CALM, Scene

NEVER: Final = {"notes": {names.HANDOVER: "never"}}
MAKERS: Final[Mapping[str, Callable[[str, int], dict[str, Any]]]] = {
    "surge": deployment,
    "recreate": lambda name, size: deployment(name, size, **RECREATE),
    "never": lambda name, size: deployment(name, size, **NEVER),
    "ordinals": stateful_set,
}


class World(NamedTuple):
    """A cluster of three spot nodes and one of on-demand, which may be too small.

    ``workloads``: their kind and size. ``cold``: each invocation knows nothing of the one before.
    ``starts``: seconds that pods take. ``room``: cores of the node that is left.
    """

    workloads: Sequence[tuple[str, int]]
    cold: bool
    starts: float
    room: int


def worlds() -> st.SearchStrategy[World]:
    """One to three workloads of up to four pods."""
    sizes = st.tuples(st.sampled_from(sorted(MAKERS)), st.integers(1, 4))
    return st.builds(
        World,
        st.lists(sizes, min_size=1, max_size=3),
        st.booleans(),
        st.sampled_from([2.0, 20.0, 50.0]),
        st.sampled_from([1, 4]),
    )


class Deed(NamedTuple):
    """What a stranger does after so many seconds, to which workload, and how much."""

    after: int
    what: str
    which: int
    much: int


def deeds() -> st.SearchStrategy[Deed]:
    """Strangers delete, scale and roll out."""
    return st.builds(
        Deed,
        st.integers(0, 200),
        st.sampled_from(["delete", "scale", "roll out"]),
        st.integers(0, 3),
        st.integers(0, 4),
    )


@contextmanager
def staged(world: World) -> Iterator[Scene]:
    """The scene, with all pods on the spot nodes s0 to s2, and o1 empty."""
    options = replace(CALM, start_seconds=(world.starts, world.starts))
    scene = Scene(options=options, environments_kept=not world.cold)
    try:
        made = [MAKERS[kind](f"w{n}", size) for n, (kind, size) in enumerate(world.workloads)]
        room = {"s": "4", "o": str(world.room)}
        scene.given(*made, on="s0 s1 s2", spare="o1", room=room, settle=120)
        yield scene
    finally:
        scene.close()


def do(scene: Scene, world: World, deed: Deed) -> None:
    """What the stranger does."""
    number = deed.which % len(world.workloads)
    name, kind = f"w{number}", world.workloads[number][0]
    of_kind = "StatefulSet" if kind == "ordinals" else "Deployment"
    match deed.what:
        case "delete":
            for pod in scene.pods(name)[:1]:
                scene.cluster.delete("Pod", pod.name, "default")
        case "scale":
            scene.cluster.scale(of_kind, name, "default", deed.much)
        case "roll out":
            (found,) = (e for e in scene.cluster.objects(of_kind) if e["metadata"]["name"] == name)
            template = {**found["spec"]["template"]}
            template["metadata"] = {**template["metadata"], "annotations": {"v": str(deed.after)}}
            spec = {**found["spec"], "template": template}
            scene.cluster.apply({**found, "spec": spec})


def log_of(scene: Scene) -> Sequence[Record]:
    """All decisions and counts so far, as the decision log has them."""
    recorder = scene.recorder
    decided = zip(recorder.decisions, recorder.times, strict=True)
    return [
        *(decision_log.record(each, scene.at(at), "prod", "act") for each, at in decided),
        *(decision_log.count_record(each, "prod") for each in recorder.pod_counts),
    ]
