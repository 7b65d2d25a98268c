"""What becomes of a new pod: left as it is, one capacity type, or to be counted."""

import msgspec

from evenkeel.model.capacity import Capacity
from evenkeel.model.reasons import Reason


class Left(msgspec.Struct, frozen=True):
    """The pod is left as it is. ``reason`` is a CamelCase word, ``message`` for people."""

    reason: Reason
    message: str


class Chosen(msgspec.Struct, frozen=True):
    """The pod asks for a capacity type; ``is_required``: no node of the other one will do."""

    capacity: Capacity
    reason: Reason
    message: str
    is_required: bool = False


class Counted(msgspec.Struct, frozen=True):
    """The pod is one of the floor if fewer than ``floor`` of its siblings are; ``size`` of all."""

    floor: int
    size: int
