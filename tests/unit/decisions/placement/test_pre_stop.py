"""What a new pod's containers do before their SIGTERM."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.placement.pre_stop import sleep_operations
from evenkeel.model import names
from tests.unit.decisions.placement.pods import Document, document, patched, read

OF_ITS_OWN: Document = {"preStop": {"exec": {"command": ["drain"]}}}
STARTS: Document = {"postStart": {"exec": {"command": ["warm-up"]}}}


def sleeping(pod: Document, of_namespace: str | None = None) -> Document:
    notes = {} if of_namespace is None else {names.PRE_STOP_SLEEP: of_namespace}
    return patched(pod, [*sleep_operations(read(pod), notes)])


def slept(pod: Document) -> list[Any]:
    """How long each container sleeps; None of one that does something else, or nothing."""
    hooks = (
        (each.get("lifecycle") or {}).get("preStop") or {} for each in pod["spec"]["containers"]
    )
    return [hook.get("sleep", {}).get("seconds") for hook in hooks]


def asking(text: str | None, **spec: Any) -> Document:
    notes = None if text is None else {names.PRE_STOP_SLEEP: text}
    return document(annotations=notes, **spec)


@pytest.mark.parametrize(
    ("own", "of_namespace", "seconds"),
    [
        (None, None, None),
        ("5s", None, 5),
        (None, "5s", 5),
        ("3s", "5s", 3),
        ("0s", "5s", None),
        ("soon", "5s", 5),
        ("soon", "later", None),
        ("5", None, None),
        ("1m", None, None),
        ("1.5s", None, None),
        ("-5s", None, None),
        ("5s\n", None, None),
        ("٣s", None, None),
        ("99999s", None, None),
    ],
)
def test_a_container_sleeps_as_long_as_its_pod_says_else_its_namespace(
    own: str | None, of_namespace: str | None, seconds: int | None
) -> None:
    assert slept(sleeping(asking(own), of_namespace)) == [seconds]


@pytest.mark.parametrize(
    ("grace", "seconds"),
    [(None, 15), (60, 20), (40, 20), (39, 19), (2, 1), (1, None), (0, None), (-1, None)],
)
def test_the_app_keeps_half_of_its_grace_period(grace: int | None, seconds: int | None) -> None:
    pod = asking("20s", **({} if grace is None else {"terminationGracePeriodSeconds": grace}))
    assert slept(sleeping(pod)) == [seconds]


def test_a_hook_of_its_owner_s_stays_and_other_containers_sleep() -> None:
    lifecycles: list[Any] = [OF_ITS_OWN, STARTS, {}, None]
    containers = [{"name": f"c{n}", "lifecycle": each} for n, each in enumerate(lifecycles)]
    pod = sleeping(asking("5s", containers=[*containers, {"name": "c4"}]))
    assert slept(pod) == [None, 5, 5, 5, 5]
    first, second, *_ = (each["lifecycle"] for each in pod["spec"]["containers"])
    assert first == OF_ITS_OWN
    assert second == STARTS | {"preStop": {"sleep": {"seconds": 5}}}


def test_a_second_review_adds_nothing_but_to_containers_that_came_meanwhile() -> None:
    pod = sleeping(asking("5s"))
    assert sleeping(pod) == pod
    pod["spec"]["containers"].append({"name": "proxy"})
    assert slept(sleeping(pod)) == [5, 5]


def test_init_containers_which_end_after_the_others_do_not_sleep() -> None:
    proxy = {"name": "proxy", "restartPolicy": "Always"}
    assert sleeping(asking("5s", initContainers=[proxy]))["spec"]["initContainers"] == [proxy]


def test_a_pod_without_containers_is_left_to_the_api_server() -> None:
    pod = asking("5s", containers=None)
    assert sleeping(pod) == pod


@given(said=st.integers(0, 9999), grace=st.integers(-(2**63), 2**63 - 1))
def test_no_pod_is_refused_for_its_sleep(said: int, grace: int) -> None:
    """The API server takes sleeps from 1 s up to the grace period."""
    pod = asking(f"{said}s", terminationGracePeriodSeconds=grace)
    (seconds,) = slept(sleeping(pod))
    assert seconds is None or 1 <= seconds <= grace
