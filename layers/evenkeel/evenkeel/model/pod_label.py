"""Labels by which watches select pods: they stay on a pod as long as it lives."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from evenkeel.model import names

LONGEST_LABEL: Final = 63
"""Characters of a label's value."""

LONGEST_HASH: Final = LONGEST_LABEL - len(names.RELEASED_SUFFIX)
"""A released pod's label is longer. The Deployment controller's hashes have 10 characters."""

KEYS: Final = (*names.HASHES, names.POD_NAME, names.JOB_UID)
"""The keys of such labels, in the order in which they get watches: ReplicaSets' pods first."""


class PodLabel(NamedTuple):
    """A label by which a watch can select pods."""

    key: str
    value: str

    @property
    def values(self) -> Sequence[str]:
        """The values that the label may have: a release changes the template hash.

        No pod is released whose label would get too long.
        """
        if self.key not in names.HASHES or len(self.value) > LONGEST_HASH:
            return (self.value,)
        return self.value, names.released_hash(self.value)
