from pathlib import Path

import pytest

from evenkeel.errors import SettingsError
from evenkeel.handlers import Lazy
from evenkeel_hosting import functions

HANDLER = "from evenkeel.handlers import Lazy\nhandler = Lazy(lambda: lambda event, context: {})\n"


@pytest.mark.parametrize("name", ["interruption", "handover"])
def test_the_functions_that_lambda_runs_are_loaded_and_connect_to_nothing(name: str) -> None:
    handler = functions.load(name)

    assert isinstance(handler, Lazy)


@pytest.mark.parametrize("name", ["interruption", "handover"])
def test_a_loaded_function_is_the_real_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("EVENKEEL_MODE", "EVENKEEL_CLUSTER_NAME"):
        monkeypatch.delenv(variable, raising=False)

    with pytest.raises(SettingsError):
        functions.load(name)({"Records": []}, None)


def test_every_load_is_a_handler_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "app.py").write_text(HANDLER)
    one, other = (functions.load("f", tmp_path) for _ in range(2))

    one.bind(lambda _event, _context: {"bound": True})

    assert one({}, None) == {"bound": True}
    assert other({}, None) == {}


def test_it_is_said_when_a_function_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="is not at"):
        functions.load("interruption", tmp_path)


def test_it_is_said_when_a_file_is_no_function(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "app.py").write_text("handler = print\n")

    with pytest.raises(TypeError, match="has no lazy handler"):
        functions.load("f", tmp_path)
