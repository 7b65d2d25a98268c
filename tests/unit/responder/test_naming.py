"""Which new pods name Evenkeel as a responder."""

from typing import Any

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.admission import AdmissionRequest
from evenkeel_responder.naming import MOST, named

ENTRY = {"name": "evenkeel.dev/handover", "priority": 5_000}


def operations(
    *,
    owner: str = "ReplicaSet",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> list[tuple[str, object]]:
    """What a pod gets, as paths and values."""
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "u", "controller": True}]
    pod = {
        "metadata": {
            "labels": {names.TEMPLATE_HASH: "5d8"} if labels is None else labels,
            "annotations": annotations,
            "ownerReferences": owners if owner else None,
        },
        "spec": spec,
    }
    request = AdmissionRequest(uid="r", object=msgspec.Raw(msgspec.json.encode(pod)))
    return [(each.path, each.value) for each in named(request)]


def test_a_pod_of_a_deployment_names_it() -> None:
    assert operations() == [("/spec/evictionResponders", [ENTRY])]


def test_it_comes_after_those_that_the_pod_names() -> None:
    there = [{"name": "acme.io/db", "priority": 10_000}]
    assert operations(evictionResponders=there) == [("/spec/evictionResponders/-", ENTRY)]


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param({"owner": ""}, id="bare"),
        pytest.param({"owner": "StatefulSet"}, id="not handed over"),
        pytest.param({"labels": {}}, id="no template hash"),
        pytest.param({"schedulingGroup": {"podGroupName": "train"}}, id="in a group"),
        pytest.param({"annotations": {names.GATE: "false"}}, id="left out of the gate"),
        pytest.param({"evictionResponders": [ENTRY]}, id="it names it"),
        pytest.param(
            {"evictionResponders": [{"name": f"acme.io/{n}"} for n in range(MOST)]},
            id="it may name no more",
        ),
    ],
)
def test_others_do_not(pod: dict[str, Any]) -> None:
    assert operations(**pod) == []
