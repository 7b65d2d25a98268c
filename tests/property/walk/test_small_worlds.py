"""Small worlds walked whole: every order in which the steps of a handover can happen."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenkeel.flows import drain, pause
from evenkeel.settings import handover
from tests.property.walk import session
from tests.property.walk.fingerprints import DERIVED, RESTS, UNTOLD
from tests.property.walk.search import Walk
from tests.property.walk.world import Troubles, World

DRAIN, PAUSE, SETTINGS = (
    Path(drain.__file__).parent,
    Path(pause.__file__),
    Path(handover.__file__),
)
FAILURE = Troubles(crashes=1, failures=1)
STALE = Troubles(failures=1, moments=1)
LATE = Troubles(failures=1, last_moments=1)


@pytest.mark.parametrize(
    ("pods", "troubles", "is_coarse"),
    [
        pytest.param(1, FAILURE, False, id="one pod"),
        pytest.param(1, STALE, False, id="one pod and a watch that shows nothing"),
        pytest.param(1, LATE, True, id="one pod and its last moment", marks=pytest.mark.nightly),
        pytest.param(2, FAILURE, True, id="two pods", marks=pytest.mark.nightly),
    ],
)
def test_no_pod_is_missed_and_all_come_to_rest_in_every_order_of_steps(
    pods: int,
    troubles: Troubles,
    is_coarse: bool,  # noqa: FBT001 - a case of a table
    record_property: Callable[[str, object], None],
) -> None:
    walked = Walk(World(pods, troubles, is_coarse=is_coarse)).go()

    record_property("walked", str(walked))
    assert not walked.fault, str(walked)
    assert walked.is_whole


def test_every_trouble_happens_when_it_may() -> None:
    """A walk that meets no trouble shows nothing: each has states of its own."""
    calm = Walk(World(1, Troubles(), is_coarse=True)).go().states

    for trouble in Troubles._fields:
        walked = Walk(World(1, Troubles(**{trouble: 1}), is_coarse=True)).go()
        assert walked.states > calm, trouble


def test_what_tells_no_states_apart_is_there() -> None:
    """A class or attribute by another name would tell states apart, and make worlds larger."""
    found: dict[str, set[str]] = {}
    for path in (*DRAIN.rglob("*.py"), PAUSE, SETTINGS, Path(session.__file__)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                found[node.name] = set(attributes_of(node))

    assert found.keys() >= DERIVED
    for name, attributes in {**UNTOLD, "Backoff": [RESTS]}.items():
        assert found[name] >= set(attributes), name


def attributes_of(found: ast.ClassDef) -> Iterator[str]:
    """The attributes of a class that it names itself."""
    for node in ast.walk(found):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
