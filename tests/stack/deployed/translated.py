"""What SAM makes of template.yaml: how AWS tells each resource from others, and who may make it.

Run by the Python of .venv-sam, which has SAM's translator and CloudFormation's schemas.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from samcli.lib.translate.sam_template_validator import SamTemplateValidator
from samcli.yamlhelper import yaml_parse


def main(path: str, region: str) -> None:
    """Print as JSON of each resource its type, what identifies it, and the actions it takes."""
    template = yaml_parse(Path(path).read_text())
    validator = SamTemplateValidator(template, None, region=region)
    translated = yaml_parse(validator.get_translated_template_if_valid())
    found = {}
    for name, resource in translated["Resources"].items():
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource["Type"]).schema
        properties = resource.get("Properties", {})
        identity = {key: properties[key] for key in _identifying(schema) if key in properties}
        handlers = schema.get("handlers", {}).values()
        actions = sorted({action for each in handlers for action in each["permissions"]})
        found[name] = {"type": resource["Type"], "identity": identity, "actions": actions}
    json.dump(found, sys.stdout)


def _identifying(schema: Mapping[str, Any]) -> Iterator[str]:
    """The properties that identify a resource, and the names that it keeps for its life."""
    identifiers: Sequence[str] = sum(
        schema.get("additionalIdentifiers", []), schema["primaryIdentifier"]
    )
    yield from (pointer.removeprefix("/properties/") for pointer in identifiers)
    for pointer in schema.get("createOnlyProperties", []):
        if pointer.endswith("Name"):
            yield pointer.removeprefix("/properties/")


if __name__ == "__main__":
    main(*sys.argv[1:])
