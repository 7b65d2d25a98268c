"""All of an installation as files, for those who apply them by Argo CD, Flux or Terraform."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from evenkeel_cli import manifests
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import plan, rights, template
from evenkeel_cli.install.bucket import Bucket
from evenkeel_cli.install.build import Build, document
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.site import Site
from evenkeel_cli.manifests import Manifest

README: Final = """\
# Evenkeel for {cluster}

Written by `evenkeel install --render`, for mode {mode} and webhook {webhook}. In this order:

1. `kubernetes/`: rights{serve}. `kubectl apply -k kubernetes`, or an Argo CD or Flux application.
2. `stack/`: {stack}

   The stack is `{name}`. `parameters.json` has its parameters, as a change set takes them
   (`aws cloudformation create-change-set --parameters file://parameters.json
   --capabilities CAPABILITY_IAM --template-url URL`). `parameters.tfvars.json` has them as a map,
   for Terraform and CDK: the folder `deploy/` of Evenkeel's sources has a sample for each.
{roles}{hooks}
When it stands: `evenkeel doctor --cluster-name {cluster}`.
"""
UPLOADED: Final = """\
`template.json` is at {url}, with the functions and the layer that it names.
   CloudFormation takes a template of this size by URL alone."""
BESIDE: Final = """\
`template.json`, and the functions and the layer that it names. CloudFormation fetches
   all of them from a bucket: `--render` with `--bucket` uploads them, or in `stack/`

   ```console
   aws cloudformation package --template-file template.json --use-json --s3-bucket BUCKET \\
     --output-template-file packaged.json
   aws s3 cp packaged.json s3://BUCKET/{name}.json
   ```"""
ROLES: Final = """\
3. Its outputs name the roles that `aws-auth` has to map (docs/install.md has the lines): this
   cluster knows no access entries.
"""
HOOKS: Final = """\
{number}. The two webhook configurations hold the token, which belongs into no repository:
   `evenkeel install --cluster-name {cluster} --webhook {webhook} --apply` makes them of what stands
   now, or `evenkeel webhook-config`.
"""
SECRETS: Final = """\
   `evenkeel-webhook` (key `token`) and `evenkeel-webhook-tls` are Secrets that serve needs: the
   same command makes them, or see docs/placement.md.
"""


def render(site: Site, choices: Choices, build: Build, folder: Path) -> Sequence[Path]:
    """Write everything into a new folder; the files that were written. Nothing is applied.

    With a bucket functions, layer and template are uploaded there. Raises CommandError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadInputError(f"{folder} is not empty: name a new folder, or empty it")
    _kubernetes(site, choices, folder / "kubernetes")
    url = _stack(site, choices, build, folder / "stack")
    (folder / "README.md").write_text(_readme(site, choices, url))
    return sorted(each for each in folder.rglob("*") if each.is_file())


def _kubernetes(site: Site, choices: Choices, folder: Path) -> None:
    folder.mkdir(parents=True)
    parts: dict[str, Sequence[Manifest]] = {
        "rights.yaml": rights.wanted(gate=choices.webhook.answers, policies=choices.policies)
    }
    if choices.webhook is Webhook.IN_CLUSTER:
        parts["serve.yaml"] = plan.served(site, choices).documents
    if choices.webhook is Webhook.POLICY:
        parts["policy.yaml"] = plan.policed(site, choices).documents
    for name, documents in parts.items():
        (folder / name).write_text(manifests.text(documents))
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(parts),
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization, sort_keys=False))


def _stack(site: Site, choices: Choices, build: Build, folder: Path) -> str:
    """The URL of the template, if it was uploaded."""
    folder.mkdir(parents=True)
    stack, pieces, url = site.place.stack_name, build.pieces, ""
    if site.place.bucket:
        bucket = Bucket(site.aws, site.place.bucket)
        written = build.placed_in(bucket.name, stack)
        uploaded = document(written)
        bucket.ready()
        bucket.put(stack, [*pieces.values(), uploaded])
        url = bucket.url(uploaded.key(stack))
    else:
        for each in pieces.values():
            (folder / each.file).write_bytes(each.content)
        written = template.placed(build.template, {key: e.file for key, e in pieces.items()})
    (folder / "template.json").write_text(_json(written))
    parameters = plan.parameters(site, choices)
    (folder / "parameters.json").write_text(_json(_listed(parameters)))
    (folder / "parameters.tfvars.json").write_text(_json(parameters))
    return url


def _readme(site: Site, choices: Choices, url: str) -> str:
    name = site.place.stack_name
    cluster, webhook = site.place.cluster, choices.webhook
    is_in_cluster = webhook is Webhook.IN_CLUSTER
    roles = "" if site.described.takes_access_entries else ROLES
    number = 4 if roles else 3
    told = HOOKS.format(number=number, cluster=cluster, webhook=webhook)
    hooks = told + (SECRETS if is_in_cluster else "") if webhook.answers else ""
    beside = {
        Webhook.IN_CLUSTER: ", and the webhook in the cluster",
        Webhook.POLICY: ", and the policy that places pods",
    }
    return README.format(
        cluster=cluster,
        mode=choices.mode,
        webhook=webhook,
        serve=beside.get(webhook, ""),
        name=name,
        stack=(UPLOADED if url else BESIDE).format(url=url, name=name),
        roles=roles,
        hooks=hooks,
    )


def _listed(parameters: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    return [{"ParameterKey": key, "ParameterValue": v} for key, v in parameters.items()]


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
