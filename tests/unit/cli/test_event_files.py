import json

import pytest

from evenkeel_cli import event_files
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.event_files import Flaw, Record

ONE = {"id": "1", "detail": {"instance-id": "i-1234567890abcdef0"}}
TWO = {"id": "2", "detail": {}}


def read(text: str) -> list[Record | Flaw]:
    return list(event_files.records("f.json", text.encode()))


def events(items: list[Record | Flaw]) -> list[object]:
    return [item.event for item in items if isinstance(item, Record)]


def flaws(items: list[Record | Flaw]) -> list[str]:
    return [item.message for item in items if isinstance(item, Flaw)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(json.dumps(ONE), [ONE], id="one event on one line"),
        pytest.param(json.dumps(ONE, indent=2), [ONE], id="one event, indented"),
        pytest.param(json.dumps([ONE, TWO]), [ONE, TWO], id="array on one line"),
        pytest.param(json.dumps([ONE, TWO], indent=2), [ONE, TWO], id="array, indented"),
        pytest.param(f"[\n{json.dumps(ONE)},\n{json.dumps(TWO)}\n]", [ONE, TWO], id="line array"),
        pytest.param(f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n", [ONE, TWO], id="JSON lines"),
        pytest.param(f"{json.dumps(ONE)}\n\n{json.dumps(TWO)}", [ONE, TWO], id="blank line"),
        pytest.param(f"{json.dumps(ONE)}\r\n{json.dumps(TWO)}\r\n", [ONE, TWO], id="CRLF"),
        pytest.param(
            f"{json.dumps(ONE, indent=2)}\n{json.dumps(TWO, indent=2)}", [ONE, TWO], id="jq output"
        ),
        pytest.param(f"\ufeff{json.dumps(ONE)}", [ONE], id="byte order mark"),
    ],
)
def test_every_event_is_read_in_each_form_of_file(text: str, expected: list[object]) -> None:
    items = read(text)

    assert events(items) == expected
    assert flaws(items) == []


def test_a_record_knows_its_number_and_line_when_read_from_an_indented_array() -> None:
    second = read(json.dumps([ONE, TWO], indent=2))[1]

    assert isinstance(second, Record)
    assert str(second.place) == "f.json, record 2 (line 8)"


@pytest.mark.parametrize(
    ("text", "good", "flaw"),
    [
        pytest.param("", 0, "f.json: is empty: it should hold one event, an array", id="empty"),
        pytest.param(" \n ", 0, "f.json: is empty", id="blank"),
        pytest.param("[]", 0, "f.json: holds no event: the array is empty", id="empty array"),
        pytest.param("hello", 0, "f.json, record 1 (line 1): is no JSON", id="no JSON"),
        pytest.param('{"id": "1",', 0, "record 1 (line 1): is truncated", id="cut after comma"),
        pytest.param('{"id": "1', 0, "record 1 (line 1): is truncated", id="cut in a string"),
        pytest.param('[\n{"id": "1"},\n{"id":', 1, "record 2 (line 3): is truncated", id="cut"),
        pytest.param('[{"id": "1"}', 1, "is truncated after record 1", id="array without end"),
        pytest.param('[{"id": "1"},', 1, "is truncated after record 1", id="array cut"),
        pytest.param('[{"id": "1"} {}]', 1, "a comma or ] is missing after record 1", id="comma"),
        pytest.param('[{"id": "1"},\n]', 1, "line 2: is no JSON: a comma stands", id="extra comma"),
        pytest.param('[{"id": "1"}] x', 1, "something stands after the array's end", id="rest"),
        pytest.param("[nope]", 0, "record 1 (line 1): is no JSON", id="bad element"),
        pytest.param("[" * 200_000, 0, "nested too deeply", id="deep"),
        pytest.param("{'id': 1}", 0, "line 1, column 2", id="single quotes"),
    ],
)
def test_a_flaw_names_the_record_and_its_line_when_a_file_is_bad(
    text: str, good: int, flaw: str
) -> None:
    items = read(text)

    assert len(events(items)) == good
    (message,) = flaws(items)
    assert message.startswith("f.json")
    assert flaw in message
    assert "\n" not in message


def test_the_other_lines_are_read_when_one_of_them_is_bad() -> None:
    items = read(f'{json.dumps(ONE)}\n{{"id": \n{json.dumps(TWO)}\n')

    assert events(items) == [ONE, TWO]
    assert flaws(items) == ["f.json, record 2 (line 2): is no JSON: expecting value (column 8)"]


def test_the_line_is_named_when_a_file_is_not_utf_8() -> None:
    (item,) = event_files.records("f.json", b'{"id": "1",\n"x": "\xff"}')

    assert item == Flaw("f.json, line 2: is not text in UTF-8: save it as UTF-8")


def test_a_missing_file_is_bad_input() -> None:
    with pytest.raises(BadInputError, match=r"nowhere\.json: there is no such file: check"):
        event_files.read_all(["nowhere.json"])


def test_a_directory_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="is a directory: name files"):
        event_files.read_all(["tests"])
