"""What a pod takes of its node, as the scheduler reckons it."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from evenkeel.model.pod import PLACES, Pod


def asks(cpu: str, **more: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [asks("1"), asks("500m")]}, 1.5),
        ({"containers": [asks("1")], "initContainers": [asks("3"), asks("2")]}, 3),
        ({"containers": [asks("4")], "initContainers": [asks("3")]}, 4),
        ({"containers": [asks("1")], "initContainers": [asks("1", **SIDECAR)]}, 2),
        ({"containers": [asks("1")], "initContainers": [asks("1", **SIDECAR), asks("3")]}, 4),
        ({"containers": [asks("1")], "initContainers": [asks("3"), asks("1", **SIDECAR)]}, 3),
        ({"containers": [asks("1")], "overhead": {"cpu": "250m"}}, 1.25),
        ({"containers": [asks("1"), asks("1")], **asks("5"), "overhead": {"cpu": "1"}}, 6),
    ],
    ids=[
        "containers together",
        "the largest init container",
        "init containers end before the others start",
        "sidecars go on",
        "sidecars before an init container go on beside it",
        "sidecars after it do not",
        "what the runtime takes",
        "what is said of the whole pod counts instead",
    ],
)
def test_what_the_scheduler_keeps_free(spec: Mapping[str, Any], cpu: float) -> None:
    pod = msgspec.convert({"metadata": {"name": "a"}, "spec": spec}, Pod)
    assert pod.spec.requests == {"cpu": cpu, PLACES: 1}
