"""JSON patches and merge patches, operation by operation (RFC 6902, RFC 7386)."""

import copy
from typing import Any

import pytest

from evenkeel.errors import InvalidError
from evenkeel_sandbox.simulator.api.patches import json_patch, merge_patch

DOCUMENT = {"a": {"b": 1, "c/d": 2, "e~f": 3}, "list": ["x", "y"], "null": None}


def operation(op: str, path: str, **rest: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **rest}


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        (operation("add", "/a/new", value=9), "a", {"b": 1, "c/d": 2, "e~f": 3, "new": 9}),
        (operation("add", "/a/b", value=9), "a", {"b": 9, "c/d": 2, "e~f": 3}),
        (operation("remove", "/a/c~1d"), "a", {"b": 1, "e~f": 3}),
        (operation("replace", "/a/e~0f", value=9), "a", {"b": 1, "c/d": 2, "e~f": 9}),
        (operation("add", "/list/0", value="z"), "list", ["z", "x", "y"]),
        (operation("add", "/list/2", value="z"), "list", ["x", "y", "z"]),
        (operation("add", "/list/-", value="z"), "list", ["x", "y", "z"]),
        (operation("remove", "/list/0"), "list", ["y"]),
        (operation("replace", "/list/1", value="z"), "list", ["x", "z"]),
        (operation("test", "/a/b", value=1), "a", DOCUMENT["a"]),
        (operation("test", "/list", value=["x", "y"]), "list", ["x", "y"]),
        (operation("test", "/absent", value=None), "list", ["x", "y"]),
        (operation("test", "/null", value=None), "list", ["x", "y"]),
    ],
)
def test_an_operation_does_its_work(given: dict[str, Any], path: str, expected: object) -> None:
    assert json_patch(DOCUMENT, [given])[path] == expected


@pytest.mark.parametrize(
    "given",
    [
        operation("add", "/absent/x", value=1),
        operation("add", "/list/3", value=1),
        operation("add", "/list/x", value=1),
        operation("add", "/a/b/x", value=1),
        operation("remove", "/absent"),
        operation("remove", "/list/2"),
        operation("replace", "/list/2", value=1),
        operation("replace", "/a/b/x", value=1),
        operation("test", "/a/b", value=2),
        operation("test", "/list/5", value=None),
        operation("test", "/absent/x", value=None),
        operation("copy", "/x", **{"from": "/absent"}),
        operation("invent", "/a"),
        operation("add", "a", value=1),
    ],
)
def test_a_failing_operation_is_invalid_and_leaves_the_document_as_it_was(
    given: dict[str, Any],
) -> None:
    before = copy.deepcopy(DOCUMENT)
    with pytest.raises(InvalidError):
        json_patch(DOCUMENT, [operation("add", "/a/b", value="changed"), given])
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b"}, {"b": None}, {"a": "b"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_merges(document: object, patch: object, expected: object) -> None:
    assert merge_patch(document, patch) == expected
