"""JSON that is nested deeper than msgspec decodes, whatever else its author put into it."""

import json
import subprocess
import sys
from typing import Any

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
    found: Any = decoded(object, document)
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
        decoded(object, '{"a":' + "[" * TOO_DEEP + rest)


READ = """
from evenkeel.errors import UnreadableError
from evenkeel.model.decoding import decoded
document = '{"a":' + "[" * 20_000 + '"' + '\\\\"' * 1_000_000
try:
    decoded(object, document)
except UnreadableError:
    print("refused")
"""


def test_a_string_without_an_end_is_looked_through_once() -> None:
    """For each place where it might end once more, this took hours."""
    done = subprocess.run(
        [sys.executable, "-c", READ], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "refused\n"


AT_ONCE = """
import sys
from collections.abc import Mapping
from threading import Thread
import msgspec
from evenkeel.model.decoding import converted, decoded

def fresh():
    leaf = msgspec.defstruct("Leaf", [("a", Mapping[str, str]), ("b", "int | None", None)])
    inner = msgspec.defstruct("Inner", [("leaves", tuple[leaf, ...]), ("m", Mapping[str, leaf])])
    return msgspec.defstruct("Outer", [("inner", inner), ("leaf", leaf)])

def read(which):
    while not over:
        if which % 2:
            decoded(shapes[0], '{"inner":{"leaves":[],"m":{}},"leaf":{"a":{}}}')
        else:
            converted({"inner": {"leaves": [], "m": {}}, "leaf": {"a": {}}}, shapes[0])

sys.setswitchinterval(1e-6)
over, shapes = False, [fresh()]
threads = [Thread(target=read, args=(which,)) for which in range(4)]
for thread in threads:
    thread.start()
for _ in range(2000):
    shapes[0] = fresh()
over = True
for thread in threads:
    thread.join()
print("read")
"""


def test_threads_may_read_types_that_share_one_for_the_first_time() -> None:
    """msgspec alone ends such a process with SIGSEGV."""
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]
