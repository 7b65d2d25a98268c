"""The stack's own question, put on the event bus, whether an event still gets to the API server.

It comes in by the same rule and queue as the notices. Its source is the stack's own, so that no
other stack's rule lets it through: PREFIX and the stack's name.
"""

from typing import Final

from evenkeel.decisions.notice.event import Event, Probe

PREFIX: Final = "evenkeel.probe/"
DETAIL_TYPE: Final = "Evenkeel Probe"


def find(event: Event) -> Probe | None:
    """The probe that the event is, or None."""
    if event.detail_type == DETAIL_TYPE and event.source.startswith(PREFIX):
        return Probe(event_id=event.event_id)
    return None
