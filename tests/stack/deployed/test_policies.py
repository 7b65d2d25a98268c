"""CloudFormation's role may do what the resources take, as AWS's schemas tell, and no more."""

from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.kit.documented import of_who_installs

pytestmark = pytest.mark.stack

OF_A_KEY = {f"kms:{e}" for e in ("CreateGrant", "Decrypt", "DescribeKey", "Encrypt")}
"""Only with KeyArn, as the page says; and GenerateDataKey."""
UNUSED = {
    *OF_A_KEY,
    "kms:GenerateDataKey",
    "elasticfilesystem:DescribeMountTargets",  # no file system is mounted
    "s3files:ListMountTargets",
    "firehose:TagDeliveryStream",  # logs go nowhere else
    "s3:REST.PUT.OBJECT",
    "s3:GetObjectVersion",  # no version of an object is named
    "s3:getObject",  # an API whose definition lies in a bucket; and written as no policy has it
}


def test_the_role_may_do_what_the_resources_take(translated: dict[str, Any]) -> None:
    needed = {action for each in translated.values() for action in each["actions"]} - UNUSED
    needed = {each.lower() for each in needed}  # IAM does not heed case
    assert len(needed) > 100
    _, role = of_who_installs()
    allowed = set[str]()
    for statement in role["Statement"]:
        actions = statement["Action"]
        listed = [actions] if isinstance(actions, str) else actions
        allowed |= {each.lower() for each in listed}
    missing = {e for e in needed if not any(fnmatchcase(e, pattern) for pattern in allowed)}
    assert missing == set()
    idle = {pattern for pattern in allowed if not any(fnmatchcase(e, pattern) for e in needed)}
    assert idle == set()
