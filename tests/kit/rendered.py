"""A folder as ``evenkeel install --render`` writes it: python -m tests.kit.rendered FOLDER."""

import json
import sys
from pathlib import Path

from evenkeel_cli.install import template
from evenkeel_hosting import files

PARAMETERS = {
    "ClusterName": "prod",
    "ClusterEndpoint": "https://prod.example.com",
    "ClusterCertificateAuthority": "YQ==",
    "Mode": "observe",
}


def write(folder: Path) -> None:
    """Write the template, whose code is in a bucket that is not there, and parameters."""
    stack = folder / "stack"
    stack.mkdir(parents=True, exist_ok=True)
    read = template.read(files.TEMPLATE.read_text())
    places = {name: f"s3://bucket/evenkeel-prod/{name}.zip" for name in template.uris(read)}
    (stack / "template.json").write_text(json.dumps(template.placed(read, places), indent=2))
    (stack / "parameters.tfvars.json").write_text(json.dumps(PARAMETERS))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
