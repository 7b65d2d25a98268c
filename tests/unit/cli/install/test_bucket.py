"""What is asked of S3: whose the bucket is, how it is made and guarded, what is uploaded."""

import json
from typing import Any

import pytest

from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.bucket import Bucket
from evenkeel_cli.install.build import Piece
from tests.unit.cli.install.cloud import ACCOUNT, OURS, Cloud
from tests.unit.cli.install.keeping import REGION

PIECES = [Piece("Layer", "a" * 16, "zip", b"layer"), Piece("template", "b" * 16, "json", b"{}")]


def a_bucket(cloud: Any, named: str = "", region: str = REGION) -> Bucket:
    return Bucket(Aws(region, lambda _: cloud), named)


def test_ours_is_made_in_the_account_s_own_namespace_and_guarded() -> None:
    cloud = Cloud()
    a_bucket(cloud).ready()
    (made,) = cloud.calls("create_bucket")
    assert made == {
        "Bucket": OURS,
        "BucketNamespace": "account-regional",
        "CreateBucketConfiguration": {"LocationConstraint": REGION},
    }
    (blocked,) = cloud.calls("put_public_access_block")
    assert set(blocked["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(blocked["PublicAccessBlockConfiguration"]) == 4
    (encrypted,) = cloud.calls("put_bucket_encryption")
    (rule,) = encrypted["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule == {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    (statement,) = json.loads(cloud.policies[OURS])["Statement"]
    assert statement == {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [f"arn:aws:s3:::{OURS}", f"arn:aws:s3:::{OURS}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def test_the_region_that_s3_does_not_let_one_name_is_not_named() -> None:
    cloud = Cloud()
    a_bucket(cloud, region="us-east-1").ready()
    (made,) = cloud.calls("create_bucket")
    assert set(made) == {"Bucket", "BucketNamespace"}


def test_what_is_whole_is_left_as_it_is() -> None:
    cloud = Cloud(buckets={OURS: {}}, policies={OURS: "with more statements"})
    a_bucket(cloud).ready()
    assert {name for name, _ in cloud.asked} <= {
        *("get_caller_identity", "head_bucket", "get_bucket_policy")
    }


def test_a_bucket_of_one_s_own_is_neither_made_nor_changed() -> None:
    cloud = Cloud(buckets={"mine": {}})
    a_bucket(cloud, "mine").ready()
    assert [name for name, _ in cloud.asked] == ["get_caller_identity", "head_bucket"]
    with pytest.raises(UnmetError, match="there is no bucket other: make it, or name another"):
        a_bucket(cloud, "other").ready()


def test_every_call_names_the_account_whose_bucket_it_has_to_be() -> None:
    cloud = Cloud()
    bucket = a_bucket(cloud)
    bucket.ready()
    bucket.put("evenkeel", PIECES)
    bucket.delete(bucket.keys("evenkeel/"))
    assert bucket.is_empty()
    bucket.remove()
    of_s3 = [
        each for each in cloud.asked if each[0] not in ("get_caller_identity", "create_bucket")
    ]
    assert len({name for name, _ in of_s3}) == 10
    for name, parameters in of_s3:
        assert parameters["ExpectedBucketOwner"] == ACCOUNT, name


def test_a_bucket_of_another_account_is_refused() -> None:
    with pytest.raises(UnmetError, match=r"mine cannot be used: it is another account's.*\(403\)"):
        a_bucket(Cloud(codes={"head_bucket": "403"}), "mine").ready()


def test_where_ours_cannot_be_made_one_can_be_named() -> None:
    """Not every region has such a namespace, and not every account lets one make buckets."""
    with pytest.raises(UnmetError, match=r"cannot be made: .*; or name one of yours by --bucket"):
        a_bucket(Cloud(codes={"create_bucket": "InvalidBucketName"})).ready()


def test_ours_may_have_been_made_meanwhile() -> None:
    cloud = Cloud(codes={"create_bucket": "BucketAlreadyOwnedByYou"})
    a_bucket(cloud).ready()
    assert OURS in cloud.policies


def test_only_what_is_missing_is_uploaded() -> None:
    cloud = Cloud(buckets={OURS: {PIECES[0].key("evenkeel"): b"layer"}})
    bucket = a_bucket(cloud)
    bucket.put("evenkeel", PIECES)
    (put,) = cloud.calls("put_object")
    assert (put["Key"], put["Body"]) == (f"evenkeel/template-{'b' * 16}.json", b"{}")
    assert bucket.url(put["Key"]) == f"https://s3.aws/{OURS}/evenkeel/template-{'b' * 16}.json"


class Undeletable(Cloud):
    def delete_objects(self, **p: Any) -> Any:
        (each,) = p["Delete"]["Objects"]
        return {"Errors": [{"Key": each["Key"], "Message": "Access Denied"}]}


def test_what_s3_refuses_is_told() -> None:
    with pytest.raises(AwsError, match="403"):
        a_bucket(Cloud(codes={"head_object": "403"})).put("evenkeel", PIECES)
    with pytest.raises(UnmetError, match=r"evenkeel/x stays in .*: Access Denied"):
        a_bucket(Undeletable()).delete(["evenkeel/x"])


def test_many_files_are_deleted_a_thousand_at_once() -> None:
    cloud = Cloud(buckets={OURS: {}})
    a_bucket(cloud).delete(f"evenkeel/{i}" for i in range(1001))
    assert [len(each["Delete"]["Objects"]) for each in cloud.calls("delete_objects")] == [1000, 1]
    cloud.asked.clear()
    a_bucket(cloud).delete([])
    assert not cloud.calls("delete_objects")


def test_a_bucket_into_which_another_stack_puts_something_stays() -> None:
    cloud = Cloud(buckets={OURS: {"other/x": b""}})
    a_bucket(cloud).remove()
    assert cloud.buckets == {OURS: {"other/x": b""}}
