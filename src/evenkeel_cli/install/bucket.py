"""The bucket that CloudFormation fetches a stack's template, functions and layer from."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from evenkeel_cli.aws.asking import Aws, AwsError, Nothing
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.build import Piece

MISSING: Final = ("404", "NoSuchBucket", "NotFound")
"""AWS's codes for what is not there. A HEAD has no body, so its code is the status."""
NO_POLICY: Final = "NoSuchBucketPolicy"
AGAIN: Final = "BucketAlreadyOwnedByYou"
TAKEN: Final = "BucketNotEmpty"
GLOBAL: Final = "us-east-1"
"""The region that S3 does not let one name: it is the default."""
AT_ONCE: Final = 1000
"""Keys that one DeleteObjects takes."""


class Identity(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetCallerIdentity. ``arn`` tells the partition: ``arn:aws-cn:sts::...``."""

    account: str
    arn: str


class Object(msgspec.Struct, frozen=True, rename="pascal"):
    """An object in a listing."""

    key: str


class Listing(msgspec.Struct, frozen=True, rename="pascal"):
    """A page of ListObjectsV2."""

    contents: tuple[Object, ...] = ()
    next_continuation_token: str = ""


class Failure(msgspec.Struct, frozen=True, rename="pascal"):
    """Why an object was not deleted."""

    key: str = ""
    message: str = ""


class Deleted(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of DeleteObjects, where it is quiet about what went well."""

    errors: tuple[Failure, ...] = ()


class Bucket:
    """A bucket of the account that is asked for. Its methods raise AwsError and UnmetError.

    Every call names the account: a bucket of this name that is somebody else's is refused.
    """

    def __init__(self, aws: Aws, named: str = "") -> None:
        """``named`` is used as it is, and neither made nor changed; without a name ours is."""
        self._aws = aws
        self._identity = aws.ask("sts", "get_caller_identity", Identity)
        ours = f"evenkeel-{self._identity.account}-{aws.region}-an"
        self.name = named or ours
        self.is_ours = self.name == ours

    def is_there(self) -> bool:
        """Whether it can be used. Raises UnmetError where it is another account's."""
        try:
            self._ask("head_bucket")
        except AwsError as error:
            if error.aws_code in MISSING:
                return False
            raise UnmetError(
                f"the bucket {self.name} cannot be used: it is another account's, or your rights"
                f" do not reach it ({error.aws_code})"
            ) from None
        return True

    def ready(self) -> None:
        """Make our bucket, unless it is there and whole. One that was named has to be there."""
        is_there = self.is_there()
        if not self.is_ours:
            if not is_there:
                raise UnmetError(f"there is no bucket {self.name}: make it, or name another one")
            return
        if not is_there:
            self._make()
        if not self._has_policy():
            self._protect()

    def url(self, key: str) -> str:
        """Where CloudFormation fetches a template from."""
        return f"{self._aws.endpoint('s3')}/{self.name}/{key}"

    def put(self, stack: str, pieces: Iterable[Piece]) -> None:
        """Upload what is not there yet: a key's digest says what is in it."""
        for each in pieces:
            key = each.key(stack)
            try:
                self._ask("head_object", Key=key)
            except AwsError as error:
                if error.aws_code not in MISSING:
                    raise
                self._ask("put_object", Key=key, Body=each.content)

    def keys(self, prefix: str) -> Iterator[str]:
        """All keys that begin with this; none where there is no such bucket."""
        token: dict[str, str] = {}
        while True:
            try:
                page = self._ask("list_objects_v2", Listing, Prefix=prefix, **token)
            except AwsError as error:
                if error.aws_code in MISSING:
                    return
                raise
            yield from (each.key for each in page.contents)
            if not page.next_continuation_token:
                return
            token = {"ContinuationToken": page.next_continuation_token}

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects. Raises UnmetError with the first that could not be."""
        wanted = list(keys)
        for i in range(0, len(wanted), AT_ONCE):
            objects = [{"Key": key} for key in wanted[i : i + AT_ONCE]]
            to_delete = {"Objects": objects, "Quiet": True}
            failed = self._ask("delete_objects", Deleted, Delete=to_delete).errors
            if failed:
                raise UnmetError(f"{failed[0].key} stays in {self.name}: {failed[0].message}")

    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return next(self.keys(""), None) is None

    def remove(self) -> None:
        """Delete our bucket, unless another stack has put something into it meanwhile."""
        try:
            self._ask("delete_bucket")
        except AwsError as error:
            if error.aws_code not in (*MISSING, TAKEN):
                raise

    def _make(self) -> None:
        """In the account's regional namespace: nobody else can make, or has made, this name.

        https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
        """
        where = (
            {}
            if self._aws.region == GLOBAL
            else {"CreateBucketConfiguration": {"LocationConstraint": self._aws.region}}
        )
        try:
            self._aws.ask(
                "s3",
                "create_bucket",
                Nothing,
                Bucket=self.name,
                BucketNamespace="account-regional",
                **where,
            )
        except AwsError as error:
            if error.aws_code != AGAIN:
                raise UnmetError(
                    f"the bucket {self.name} cannot be made: {error}; or name one of yours by"
                    " --bucket"
                ) from error

    def _protect(self) -> None:
        """Nothing of it is public, all is encrypted, and TLS alone gets in: the policy is last."""
        everything = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy")
        blocked = dict.fromkeys((*everything, "RestrictPublicBuckets"), True)
        self._ask("put_public_access_block", PublicAccessBlockConfiguration=blocked)
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
        encrypted = {"Rules": [rule]}
        self._ask("put_bucket_encryption", ServerSideEncryptionConfiguration=encrypted)
        self._ask("put_bucket_policy", Policy=json.dumps(self._policy()))

    def _policy(self) -> dict[str, Any]:
        partition = self._identity.arn.split(":")[1]
        arn = f"arn:{partition}:s3:::{self.name}"
        return {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": [arn, f"{arn}/*"],
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ],
        }

    def _has_policy(self) -> bool:
        try:
            self._ask("get_bucket_policy")
        except AwsError as error:
            if error.aws_code == NO_POLICY:
                return False
            raise
        return True

    def _ask(self, method: str, shape: Any = Nothing, **parameters: Any) -> Any:
        owner = self._identity.account
        return self._aws.ask(
            "s3", method, shape, Bucket=self.name, ExpectedBucketOwner=owner, **parameters
        )
