"""What AWS takes for the operations that are called, in the botocore that is pinned.

AWS adds members to requests, such as ``IncludeManagedResources`` of DescribeInstances: without it
an account may hide instances. Whether a new one changes what a call means somebody has to read.
"""

from pathlib import Path

from tests.kit import iam
from tests.kit.control_plane import ROOT
from tests.kit.operations import LAYER, SOURCES, named_in

LIST = Path(__file__).with_name("members.txt")
TO_DO = f"""
{LIST.relative_to(ROOT)} is not what botocore has. Of each new member read in AWS's reference
what it does, and what AWS does without it. Send it, in the adapter and in test_requests.py, or let
it be. Then write the list anew:
"""


def test_nobody_has_still_to_read_what_a_new_member_of_a_request_does() -> None:
    operations = sorted(named_in(LAYER, ROOT / "functions", SOURCES))
    assert operations
    found = "".join(f"{service} {name}\n{members(service, name)}" for service, name in operations)
    assert LIST.read_text() == found, TO_DO + found


def members(service: str, name: str) -> str:
    """The members of an operation's request, a line each; it needs those with an asterisk."""
    shape = iam.model(service).operation_model(name).input_shape
    assert shape is not None
    needed = shape.required_members
    told = sorted(f"{each}*" if each in needed else each for each in shape.members)
    return "".join(f"  {each}\n" for each in told)
