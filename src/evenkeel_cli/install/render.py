"""All of an installation as files, for those who apply them by Argo CD, Flux or Terraform."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import plan, rights, sam
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.site import Site
from evenkeel_cli.manifests import Manifest

README: Final = """\
# Evenkeel for {cluster}

Written by `evenkeel install --render`, for mode {mode} and webhook {webhook}. In this order:

1. `kubernetes/`: rights{serve}. `kubectl apply -k kubernetes`, or an Argo CD or Flux application.
2. `stack/`: {stack}
   `stack/parameters.json` has the parameters, as `aws cloudformation` takes them
   (`--parameters file://parameters.json --capabilities CAPABILITY_IAM CAPABILITY_AUTO_EXPAND`), and
   `stack/parameters.tfvars.json` as a map, for `aws_cloudformation_stack`.
{roles}{hooks}
When it stands: `evenkeel doctor --cluster {cluster}`.
"""
UPLOADED: Final = "the template names what was uploaded to the bucket {bucket}."
BESIDE: Final = (
    "the template and what it is made of. `aws cloudformation package --template-file"
    " template.yaml --s3-bucket BUCKET` uploads that and names it."
)
ROLES: Final = """\
3. Its outputs name the roles that `aws-auth` has to map (docs/operations.md has the lines): this
   cluster knows no access entries.
"""
HOOKS: Final = """\
{number}. The two webhook configurations hold the token, which belongs into no repository:
   `evenkeel install --cluster {cluster} --webhook {webhook} --apply` makes them of what stands now,
   or `evenkeel webhook-config`.
"""
SECRETS: Final = """\
   `evenkeel-webhook` (key `token`) and `evenkeel-webhook-tls` are Secrets that serve needs: the
   same command makes them, or see docs/placement.md.
"""


def render(site: Site, choices: Choices, folder: Path, bucket: str) -> Sequence[Path]:
    """Write everything into a new folder; the files that were written. Nothing is applied.

    With a bucket the build is uploaded there. Raises CommandError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadInputError(f"{folder} is not empty: name a new folder, or empty it")
    _kubernetes(site, choices, folder / "kubernetes")
    _stack(site, choices, folder / "stack", bucket)
    (folder / "README.md").write_text(_readme(site, choices, bucket))
    return sorted(each for each in folder.rglob("*") if each.is_file())


def _kubernetes(site: Site, choices: Choices, folder: Path) -> None:
    folder.mkdir(parents=True)
    parts: dict[str, Sequence[Manifest]] = {
        "rights.yaml": rights.wanted(gate=choices.webhook is not Webhook.NONE)
    }
    if choices.webhook is Webhook.IN_CLUSTER:
        parts["serve.yaml"] = plan.served(site, choices).documents
    for name, documents in parts.items():
        (folder / name).write_text(yaml.safe_dump_all(documents, sort_keys=False))
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(parts),
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization, sort_keys=False))


def _stack(site: Site, choices: Choices, folder: Path, bucket: str) -> None:
    folder.mkdir(parents=True)
    sam.build()
    if bucket:
        sam.package(site.aws.region, bucket, folder / "template.yaml")
    else:
        shutil.copytree(sam.BUILT.parent, folder, dirs_exist_ok=True)
    parameters = plan.parameters(site, choices)
    (folder / "parameters.json").write_text(_json(_listed(parameters)))
    (folder / "parameters.tfvars.json").write_text(_json(parameters))


def _readme(site: Site, choices: Choices, bucket: str) -> str:
    cluster, webhook = site.place.cluster, choices.webhook
    is_in_cluster = webhook is Webhook.IN_CLUSTER
    roles = "" if site.described.takes_access_entries else ROLES
    number = 4 if roles else 3
    told = HOOKS.format(number=number, cluster=cluster, webhook=webhook)
    hooks = "" if webhook is Webhook.NONE else told + (SECRETS if is_in_cluster else "")
    return README.format(
        cluster=cluster,
        mode=choices.mode,
        webhook=webhook,
        serve=", and the webhook in the cluster" if is_in_cluster else "",
        stack=UPLOADED.format(bucket=bucket) if bucket else BESIDE,
        roles=roles,
        hooks=hooks,
    )


def _listed(parameters: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    return [{"ParameterKey": key, "ParameterValue": v} for key, v in parameters.items()]


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
