"""The policies that docs/operations.md gives to those who install."""

import json
import re
from typing import Any

from tests.template.test_operations import PAGE


def policies() -> tuple[dict[str, Any], dict[str, Any]]:
    """That of who runs the commands, and that of CloudFormation's role."""
    section = PAGE.split("### What it takes in AWS\n")[1].split("\n### ")[0]
    commands, role = map(json.loads, re.findall(r"```json\n(.*?)```", section, re.DOTALL))
    return commands, role
