"""How each kind of notice is called and announced."""

from collections.abc import Mapping
from typing import Final

from evenkeel.decisions.notice import draining, kinds
from evenkeel.decisions.notice.kind import Wording
from evenkeel.model.notice import NodeNotice, Notice

_WORDINGS: Final[Mapping[str, Wording]] = {
    each.name: each for each in (*kinds.KINDS, draining.WORDING)
}


def of_notice(notice: Notice | NodeNotice) -> Wording:
    """The words for a notice; those of what it says where this version does not know its cause."""
    return _WORDINGS.get(notice.name) or _WORDINGS[notice.kind.value]
