"""JSON that is nested deeper than msgspec decodes, whatever else its author put into it."""

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import DEEPEST, decoded

TOO_DEEP = 20_000
TEXTS = st.text(alphabet='"\\[]{},:a\n', max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(before=VALUES, inside=VALUES, after=VALUES)
def test_what_lies_beside_a_value_that_is_too_deep_is_read(
    before: Any, inside: Any, after: Any
) -> None:
    deep = "[" * TOO_DEEP + json.dumps(inside) + "]" * TOO_DEEP
    document = (
        f'{{"before":{json.dumps(before)},"deep":{deep},"after":{json.dumps(after)}}}'
    ).encode()
    found = decoded(msgspec.json.Decoder(), document)
    assert (found["before"], found["after"]) == (before, after)
    levels, value = 1, found["deep"]
    while value is not None:
        (value,) = value
        levels += 1
    assert levels == DEEPEST


@pytest.mark.parametrize(
    "rest",
    ['"', '"' + '\\"' * 9, '"\\', "}" * 9, "", "]" * TOO_DEEP + "}]", ',"a":'],
)
def test_what_is_deep_and_no_json_is_refused(rest: str) -> None:
    with pytest.raises(UnreadableError):
        decoded(msgspec.json.Decoder(), '{"a":' + "[" * TOO_DEEP + rest)


READ = """
import msgspec
from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import decoded
document = '{"a":' + "[" * 20_000 + '"' + '\\\\"' * 1_000_000
try:
    decoded(msgspec.json.Decoder(), document)
except UnreadableError:
    print("refused")
"""


def test_a_string_without_an_end_is_looked_through_once() -> None:
    """For each place where it might end once more, this took hours."""
    done = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "refused\n"
