"""Terminations that wait for a hook: what the reconciler notes of them, and what it believes."""

import msgspec
import pytest

from evenkeel.model.hook import MOST_NOTED, Hook, Termination, noted, waiting_in

HOOK = Hook(group="workers", name="evenkeel", token="87654321-4321-4321-4321-210987654321")


def termination(number: int, **changes: str) -> Termination:
    one = Termination(HOOK, f"i-{number:017x}", f"n{number}")
    return msgspec.structs.replace(one, **changes)


def test_what_is_noted_is_read_again_by_instance_in_its_order() -> None:
    some = [termination(2), termination(1)]
    assert list(waiting_in(noted(some)).items()) == [(each.instance_id, each) for each in some]
    assert noted([]) == ""


def test_the_note_reads_as_kubernetes_writes() -> None:
    (one,) = msgspec.json.decode(noted([termination(1)]))
    assert sorted(one) == ["hook", "instanceId", "node"]


def test_no_more_are_noted_nor_read_than_a_note_has() -> None:
    many = [termination(number) for number in range(MOST_NOTED + 9)]
    assert list(waiting_in(noted(many)).values()) == many[:MOST_NOTED]
    written = msgspec.json.encode(many).decode()
    assert list(waiting_in(written).values()) == many[:MOST_NOTED]


def test_the_longest_names_fit_into_an_annotation_many_times() -> None:
    """All annotations of an object may have 262,144 bytes together."""
    hook = msgspec.structs.replace(HOOK, group="g" * 255, name="h" * 255)
    longest = [termination(number, node="n" * 253) for number in range(99)]
    text = noted(msgspec.structs.replace(each, hook=hook) for each in longest)
    assert len(text) < 31_000


@pytest.mark.parametrize("node", ["", "..", "a/b", "n" * 254])
def test_what_no_node_is_called_is_not_believed(node: str) -> None:
    assert waiting_in(noted([termination(1, node=node)])) == {}


@pytest.mark.parametrize("note", [None, "", "[", "{}", '[{"instanceId": "i-1"}]', '["i-1"]'])
def test_what_makes_no_sense_is_not_believed(note: str | None) -> None:
    assert waiting_in(note) == {}
