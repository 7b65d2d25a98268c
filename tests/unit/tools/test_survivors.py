"""The list of mutants that no test catches (tests/mutations): each line of it is still code."""

import pytest

from tests.mutations.naming import reasons, stands

KNOWN = reasons()


@pytest.mark.parametrize("name", KNOWN)
def test_the_line_of_a_known_survivor_stands_in_its_function(name: str) -> None:
    assert stands(name), "strike it from tests/mutations/survivors.txt, or write it anew"


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_survivor_has_a_reason(name: str) -> None:
    assert KNOWN[name]
