"""A function is built when its first event arrives."""

from typing import Any

import pytest

from evenkeel.errors import SettingsError
from evenkeel.handlers import Handler, Lazy


def handler_named(name: str) -> Handler:
    def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
        return {"by": name, "event": event, "context": context}

    return handle


def test_it_is_built_once_with_the_first_event() -> None:
    built: list[str] = []

    def connect() -> Handler:
        built.append("once")
        return handler_named("real")

    lazy = Lazy(connect)
    assert built == []
    assert lazy({"n": 1}, "context") == {"by": "real", "event": {"n": 1}, "context": "context"}
    lazy({"n": 2}, None)
    assert built == ["once"]


def test_a_bound_handler_is_used_and_nothing_is_built() -> None:
    def connect() -> Handler:
        raise AssertionError("nothing should be built")

    lazy = Lazy(connect)
    lazy.bind(handler_named("bound"))
    assert lazy({}, None)["by"] == "bound"


def test_a_failed_build_is_tried_again_with_the_next_event() -> None:
    attempts: list[int] = []

    def connect() -> Handler:
        attempts.append(len(attempts))
        if len(attempts) == 1:
            raise SettingsError("EVENKEEL_MODE is not set")
        return handler_named("real")

    lazy = Lazy(connect)
    with pytest.raises(SettingsError):
        lazy({}, None)
    assert lazy({}, None)["by"] == "real"
