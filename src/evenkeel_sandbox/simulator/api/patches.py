"""JSON patch (RFC 6902) and JSON merge patch (RFC 7386), on dicts that stay as they are.

Nothing is moved or copied: Evenkeel never asks for that.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenkeel.errors import InvalidError

type Json = Any
type Edit = Callable[[Json], Json]
"""What becomes of the container that holds the last token of a pointer."""


def json_patch(document: Json, operations: Sequence[Mapping[str, Any]]) -> Json:
    """The document after all operations; InvalidError, and no change, if one fails."""
    for operation in operations:
        document = _apply(document, operation)
    return document


def merge_patch(document: Json, patch: Json) -> Json:
    """The document after a merge: mappings merge, null removes, all else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(document) if isinstance(document, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _apply(document: Json, operation: Mapping[str, Any]) -> Json:
    path = _tokens(operation["path"])
    match operation["op"]:
        case "add":
            return _edit(document, path, lambda c: _add(c, path[-1], operation["value"]))
        case "remove":
            return _edit(document, path, lambda c: _remove(c, path[-1]))
        case "replace":
            # The API server's library also sets what was not there.
            return _edit(document, path, lambda c: _replace(c, path[-1], operation["value"]))
        case "test":
            # The API server's library takes a missing key for null.
            found = _read_or_none(document, path)
            if found != operation.get("value"):
                raise InvalidError(
                    f"testing value {operation['path']} failed: it is {found!r}, "
                    f"not {operation.get('value')!r}"
                )
            return document
    raise InvalidError(f"{operation['op']!r} is not an operation of a JSON patch")


def _tokens(path: str) -> list[str]:
    if not path.startswith("/"):
        raise InvalidError(f"a JSON pointer begins with a slash, not as in {path!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _edit(document: Json, path: list[str], edit: Edit) -> Json:
    if len(path) == 1:
        return edit(document)
    head, *rest = path
    if isinstance(document, list):
        i = _index(document, head, len(document) - 1)
        return [*document[:i], _edit(document[i], rest, edit), *document[i + 1 :]]
    if isinstance(document, Mapping) and head in document:
        return {**document, head: _edit(document[head], rest, edit)}
    raise InvalidError(f"the path of the patch is missing: there is no {head!r}")


def _read(document: Json, path: list[str]) -> Json:
    for part in path:
        if isinstance(document, list):
            document = document[_index(document, part, len(document) - 1)]
        elif isinstance(document, Mapping) and part in document:
            document = document[part]
        else:
            raise InvalidError(f"the path of the patch is missing: there is no {part!r}")
    return document


def _read_or_none(document: Json, path: list[str]) -> Json:
    """What is there, or None where only the last key is missing."""
    container = _read(document, path[:-1])
    if isinstance(container, Mapping):
        return container.get(path[-1])
    return _read(container, path[-1:])


def _index(items: list[Json], part: str, last: int) -> int:
    if not part.isdecimal() or int(part) > last:
        raise InvalidError(f"{part!r} is no index of a list of {len(items)}")
    return int(part)


def _add(container: Json, part: str, value: Json) -> Json:
    if isinstance(container, list):
        i = len(container) if part == "-" else _index(container, part, len(container))
        return [*container[:i], value, *container[i:]]
    if isinstance(container, Mapping):
        return {**container, part: value}
    raise InvalidError(f"the patch adds {part!r} to what is neither object nor list")


def _remove(container: Json, part: str) -> Json:
    if isinstance(container, list):
        i = _index(container, part, len(container) - 1)
        return [*container[:i], *container[i + 1 :]]
    if isinstance(container, Mapping) and part in container:
        return {key: value for key, value in container.items() if key != part}
    raise InvalidError(f"the patch removes {part!r}, which is not there")


def _replace(container: Json, part: str, value: Json) -> Json:
    if isinstance(container, list):
        i = _index(container, part, len(container) - 1)
        return [*container[:i], value, *container[i + 1 :]]
    if isinstance(container, Mapping):
        return {**container, part: value}
    raise InvalidError(f"the patch replaces {part!r} in what is neither object nor list")
