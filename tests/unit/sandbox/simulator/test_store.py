"""The store: its indexes say what a look at everything would say."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from evenkeel_sandbox.simulator.api.objects import Obj, controller_of, key_of, node_of, owners_of
from evenkeel_sandbox.simulator.api.store import Store
from evenkeel_sandbox.simulator.clock import SimulatedClock

NAMES = ("a", "b", "c")
OWNERS = ("u1", "u2")
NODES = ("n1", "n2")

pods = st.builds(
    lambda namespace, name, node, owners: {
        "kind": "Pod",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": f"{namespace}-{name}",
            "ownerReferences": [
                {"uid": uid, "kind": "ReplicaSet", "name": uid, "controller": i == 0}
                for i, uid in enumerate(owners)
            ],
        },
        "spec": {"nodeName": node} if node else {},
    },
    st.sampled_from(("x", "y")),
    st.sampled_from(NAMES),
    st.sampled_from(("", *NODES)),
    st.lists(st.sampled_from(OWNERS), unique=True),
)
steps = st.lists(st.tuples(st.sampled_from(("write", "write", "remove")), pods), max_size=30)


def sorted_by_key(objects: list[Obj]) -> list[Obj]:
    return sorted(objects, key=key_of)


@given(steps)
@settings(deadline=None)
def test_the_indexes_agree_with_a_full_scan(steps: list[tuple[str, Obj]]) -> None:
    store = Store(SimulatedClock(), history=100)
    for what, pod in steps:
        if what == "write":
            store.write(pod)
        elif store.get("Pod", key_of(pod)):
            store.remove("Pod", key_of(pod))
    everything = list(store.all("Pod"))
    for uid in OWNERS:
        expected = [p for p in everything if uid in [o["uid"] for o in owners_of(p)]]
        assert sorted_by_key(store.dependents(uid)) == sorted_by_key(expected)
        assert store.dependents(uid, "ReplicaSet") == []
    for node in NODES:
        expected = [p for p in everything if node_of(p) == node]
        assert sorted_by_key(list(store.pods_on(node))) == sorted_by_key(expected)
    for namespace in ("x", "y"):
        mine = list(store.all("Pod", namespace))
        assert mine == [p for p in everything if key_of(p)[0] == namespace]
        expected = [p for p in mine if controller_of(p) is None]
        assert sorted_by_key(list(store.orphans(namespace))) == sorted_by_key(expected)
    assert {p["metadata"]["uid"] for p in everything} == {
        f"{namespace}-{name}"
        for namespace in ("x", "y")
        for name in NAMES
        if store.has_uid(f"{namespace}-{name}")
    }


@given(steps, st.integers(0, 29))
@settings(deadline=None)
def test_the_past_can_be_read(steps: list[tuple[str, Obj]], ago: int) -> None:
    """What a list that need not be fresh answers is exactly what was there then."""
    clock = SimulatedClock()
    store = Store(clock, history=100)
    second = timedelta(seconds=1)
    states: list[tuple[list[Obj], int]] = [([], 0)]
    for what, pod in steps:
        clock.advance(second)
        if what == "write":
            store.write(pod)
        elif store.get("Pod", key_of(pod)):
            store.remove("Pod", key_of(pod))
        states.append((sorted_by_key(list(store.all("Pod"))), store.revision))
    back = min(ago, len(steps))
    then, revision = store.as_of("Pod", age=second * back)
    expected, expected_revision = states[len(steps) - back]
    assert (sorted_by_key(list(then)), revision) == (expected, expected_revision)
    for node in NODES:
        then, revision = store.as_of("Pod", node=node, age=second * back)
        assert revision == expected_revision
        assert sorted_by_key([pod for pod in then if node_of(pod) == node]) == [
            pod for pod in expected if node_of(pod) == node
        ]


def test_an_old_state_stays_what_it_was_when_the_object_changes() -> None:
    store = Store(SimulatedClock(), history=10)
    manifest: Obj = {"kind": "Pod", "metadata": {"name": "a", "uid": "u"}, "spec": {"x": 1}}
    old = store.write(manifest)
    new = store.write({**old, "spec": {"x": 2}})
    assert (old["spec"], new["spec"]) == ({"x": 1}, {"x": 2})
    assert int(new["metadata"]["resourceVersion"]) == int(old["metadata"]["resourceVersion"]) + 1
