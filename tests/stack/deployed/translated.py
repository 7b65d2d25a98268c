"""What SAM makes of templates, and what CloudFormation's schemas say of each resource.

Run by the Python of .venv-sam, which has SAM's translator and the schemas.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from samcli.lib.translate.sam_template_validator import SamTemplateValidator
from samcli.yamlhelper import yaml_parse


def main(region: str, *paths: str) -> None:
    """Print as JSON the resources of each template, by path.

    ``identity`` is what tells a resource from others, ``kept`` what it keeps for its life: another
    value makes another resource. ``actions`` are those that it takes, and ``is_tagged`` says
    whether it bears its stack's tags.
    """
    json.dump({path: dict(resources(path, region)) for path in paths}, sys.stdout)


def resources(path: str, region: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The resources of a template that any parameters make."""
    validator = SamTemplateValidator(yaml_parse(Path(path).read_text()), None, region=region)
    translated = yaml_parse(validator.get_translated_template_if_valid())
    for name, resource in translated["Resources"].items():
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource["Type"]).schema
        properties = resource.get("Properties", {})
        identifying = set(schema["primaryIdentifier"])
        identifying.update(*schema.get("additionalIdentifiers", []))
        fixed = set(schema.get("createOnlyProperties", []))
        identifying.update(pointer for pointer in fixed if pointer.endswith("Name"))
        tagging = schema.get("tagging", {})
        permitted = [each["permissions"] for each in schema.get("handlers", {}).values()]
        permitted.append(tagging.get("permissions", []))
        yield (
            name,
            {
                "type": resource["Type"],
                "properties": properties,
                "identity": _those(properties, identifying),
                "kept": _those(properties, fixed),
                "actions": sorted({action for each in permitted for action in each}),
                "is_tagged": tagging.get("taggable", False),
            },
        )


def _those(properties: Mapping[str, Any], pointers: set[str]) -> dict[str, Any]:
    """The properties that a schema's pointers name, if they are set."""
    keys = sorted(pointer.removeprefix("/properties/") for pointer in pointers)
    return {key: properties[key] for key in keys if key in properties}


if __name__ == "__main__":
    main(*sys.argv[1:])
