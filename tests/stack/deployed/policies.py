"""The policies that docs/install.md gives to those who install."""

import json
import re
from typing import Any

from tests.stack.deployed.pages import INSTALL


def policies() -> tuple[dict[str, Any], dict[str, Any]]:
    """That of who runs the commands, and that of CloudFormation's role."""
    section = INSTALL.split("### What it takes in AWS\n")[1].split("\n### ")[0]
    commands, role = map(json.loads, re.findall(r"```json\n(.*?)```", section, re.DOTALL))
    return commands, role
