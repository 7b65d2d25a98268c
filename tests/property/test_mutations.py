"""The recorded mutations fit the package as it is. What catches them is shown by hand."""

from pathlib import Path

from tests.property.mutations import MUTATIONS, copy_to


def test_every_mutation_finds_what_it_breaks(tmp_path: Path) -> None:
    """All of them at once: none takes away what another one breaks."""
    package = copy_to(tmp_path)

    for mutation in MUTATIONS:
        mutation.apply(package)
