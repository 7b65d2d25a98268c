"""The field of a warning that says what EC2 does to the instance."""

from evenkeel.decisions.notice.fields import Fields
from evenkeel.model.notice import InstanceAction


def read_action(detail: Fields) -> tuple[InstanceAction, str]:
    """The action, and what was unusual about it.

    One that EC2 has not had so far counts as a termination. Raises MalformedNoticeError.
    """
    word = detail.text("instance-action")
    try:
        return InstanceAction(word), ""
    except ValueError:
        warning = f"instance-action {word!r} is new to Evenkeel and counts as terminate"
        return InstanceAction.TERMINATE, warning
