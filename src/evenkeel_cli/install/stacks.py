"""The stack as steps: made or changed, freed of an old token, taken away with its files."""

from collections.abc import Mapping, Sequence
from typing import Final

from evenkeel_cli.aws.stack import NOT_MADE, Stack
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.install import comparing, concurrency, settling
from evenkeel_cli.install.bucket import Bucket
from evenkeel_cli.install.build import Build, bucket_of, document, prefix
from evenkeel_cli.install.change_set import ChangeSet, ChangeSets, Wanted
from evenkeel_cli.install.following import Following
from evenkeel_cli.install.settling import NEVER_MADE, STUCK
from evenkeel_cli.install.site import Site
from evenkeel_cli.install.template import Template, uris

WELL: Final = ("CREATE_COMPLETE", "UPDATE_COMPLETE")


class Deployed:
    """The stack is of this code, with these parameters; others stay as they are."""

    title = "stack"

    def __init__(self, site: Site, build: Build, parameters: Mapping[str, str]) -> None:
        """Nothing is uploaded yet. Raises BadInputError where the template lacks a parameter."""
        unknown = sorted(parameters.keys() - build.parameters)
        if unknown:
            raise BadInputError(f"--parameter {unknown[0]}: the stack has none of this name")
        self._site = site
        self._build = build
        self._parameters = parameters

    def look(self) -> Sequence[str]:
        """What is to be done to the stack: its parameters, resources and code that differ."""
        stack = settling.found(self._site)
        name = self._site.place.stack_name
        anew = [
            *comparing.of_parameters({}, self._parameters),
            *concurrency.told(self._parameters),
        ]
        if stack is None or stack.status == NOT_MADE:
            return [f"make {name}", *anew]
        if stack.status in NEVER_MADE:
            return [f"delete {name}, which is {stack.status}, and make it anew", *anew]
        if stack.is_under_way:
            return [f"follow {name}, which is {stack.status}, and bring it to this code then"]
        if stack.status == STUCK:
            return [f"continue the rollback of {name}, and bring it to this code then"]
        differences = self._differences(stack, self._site.template())
        return [f"bring {name} to this code", *differences] if differences else []

    def do(self) -> None:
        """Upload, make a change set, execute it, and follow that. Raises CommandError."""
        stack = settling.settled(self._site)
        before = self._site.template() if stack is not None else None
        if stack is not None and before is not None and not self._differences(stack, before):
            return  # the operation that was followed has made it so
        bucket = self._bucket(before)
        change_set = self._change_set(stack, bucket)
        if change_set is None:
            return
        change_set.check()
        self._execute(change_set)
        self._sweep(bucket, before)

    def propose(self) -> str | None:
        """Upload, and make a change set; the command that executes it. None: nothing changes.

        Raises UnmetError where more would have to be done first.
        """
        stack = settling.found(self._site)
        if stack is not None and stack.status == NOT_MADE:
            stack = None
        if stack is not None and (stack.is_under_way or stack.status in (*NEVER_MADE, STUCK)):
            raise UnmetError(
                f"{stack.name} is {stack.status}, of which no change set can be made: --apply goes"
                " on from there"
            )
        before = self._site.template() if stack is not None else None
        change_set = self._change_set(stack, self._bucket(before))
        return None if change_set is None else change_set.by_hand

    def _differences(self, stack: Stack, before: Template) -> Sequence[str]:
        place = self._site.place
        bucket = place.bucket or bucket_of(before, place.stack_name)
        after = self._build.placed_in(bucket, place.stack_name)
        return [
            *comparing.of_parameters(stack.parameters, self._parameters),
            *comparing.of_templates(before, after),
        ]

    def _bucket(self, before: Template | None) -> Bucket:
        """The bucket that was named, else that of the stack's files, else ours."""
        place = self._site.place
        bucket = place.bucket or (bucket_of(before, place.stack_name) if before else "")
        return Bucket(self._site.aws, bucket)

    def _change_set(self, stack: Stack | None, bucket: Bucket) -> ChangeSet | None:
        place, aws = self._site.place, self._site.aws
        written = document(self._build.placed_in(bucket.name, place.stack_name))
        bucket.ready()
        bucket.put(place.stack_name, [*self._build.pieces.values(), written])
        wanted = Wanted(
            place.stack_name,
            bucket.url(written.key(place.stack_name)),
            self._build.parameters,
            self._parameters,
            place.role_arn,
        )
        made = ChangeSets(aws, self._site.clock).make(wanted, stack)
        for each in made.changes if made is not None else ():
            self._site.say(str(each))
        return made

    def _execute(self, change_set: ChangeSet) -> None:
        site = self._site
        following = Following(site.aws, site.clock, change_set.stack_id, site.say)
        newest = following.newest()
        ChangeSets(site.aws, site.clock).execute(change_set)
        ended = following.to_the_end(
            newest, [each.logical_resource_id for each in change_set.changes]
        )
        if ended.status not in WELL:
            raise UnmetError(f"{site.place.stack_name} is {ended.status}: {ended.failure}")

    def _sweep(self, bucket: Bucket, before: Template | None) -> None:
        """Delete what neither this template nor the one before names.

        CloudFormation fetches the files of the template before when it rolls an update back.
        """
        name = self._site.place.stack_name
        after = self._build.placed_in(bucket.name, name)
        at = f"s3://{bucket.name}/"
        named = [*uris(after).values(), *(uris(before).values() if before is not None else ())]
        kept = {uri.removeprefix(at) for uri in named} | {document(after).key(name)}
        bucket.delete(key for key in bucket.keys(prefix(name)) if key not in kept)


class WithoutOldToken:
    """The stack knows no token but that of its secret: the API server asks with that one now.

    CloudFormation shows of the parameter neither its value nor whether it has one; a stack with a
    webhook and without a secret has.
    """

    title = "old token"

    def __init__(self, site: Site, build: Build) -> None:
        """Stands behind the step that gives the API server the secret's token."""
        self._deployed = Deployed(site, build, {"WebhookToken": ""})
        self._is_needed = is_by_parameter(site.stack())

    def look(self) -> Sequence[str]:
        """Whether the stack had its token by the parameter before."""
        if not self._is_needed:
            return []
        return ["take the parameter WebhookToken away: the stack's secret holds the token"]

    def do(self) -> None:
        """Deploy the same without it."""
        self._deployed.do()


class Deleted:
    """There is no stack."""

    title = "stack"

    def __init__(self, site: Site) -> None:
        self._site = site

    def look(self) -> Sequence[str]:
        """Whether it is there."""
        stack = settling.found(self._site)
        return [] if stack is None else [f"delete {stack.name}, which is {stack.status}"]

    def do(self) -> None:
        """Delete it with its queues, functions, roles, logs and secret."""
        stack = settling.found(self._site)
        if stack is not None and stack.is_under_way:
            settling.following(self._site, stack).to_the_end()
            stack = settling.found(self._site)
        if stack is not None:
            settling.delete(self._site, stack)


class Swept:
    """No file of the stack is in its bucket, and ours is gone if nothing else is in it."""

    title = "bucket"

    def __init__(self, site: Site) -> None:
        """Stands behind the step that deletes the stack, whose template names the bucket."""
        name = site.place.stack_name
        stack = site.stack()
        named = bucket_of(site.template(), name) if stack and stack.status != NOT_MADE else ""
        self._prefix = prefix(name)
        self._bucket = Bucket(site.aws, site.place.bucket or named)

    def look(self) -> Sequence[str]:
        """How many files are there, and whether the bucket is left over."""
        if not self._bucket.is_there():
            return []
        name = self._bucket.name
        count = sum(1 for _ in self._bucket.keys(self._prefix))
        if count:
            also = ", and the bucket if nothing else is in it" if self._bucket.is_ours else ""
            return [f"delete {count} files under {self._prefix} in {name}{also}"]
        is_left = self._bucket.is_ours and self._bucket.is_empty()
        return [f"delete {name}, which is empty"] if is_left else []

    def do(self) -> None:
        """Delete them."""
        self._bucket.delete(self._bucket.keys(self._prefix))
        if self._bucket.is_ours and self._bucket.is_empty():
            self._bucket.remove()


def is_by_parameter(stack: Stack | None) -> bool:
    """Whether the parameter WebhookToken holds the webhook's token."""
    outputs = stack.outputs if stack is not None else {}
    return "PlacementUrl" in outputs and "WebhookSecretArn" not in outputs
