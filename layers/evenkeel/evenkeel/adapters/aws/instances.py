"""EC2's instances.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import batched
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from evenkeel.adapters.aws.clients import Client
from evenkeel.errors import InstancesError
from evenkeel.model.instance import Instance

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import InstanceTypeDef

VALUES_PER_FILTER: Final = 200
"""EC2 takes no more values in one request's filters."""

PAGE: Final = 1_000


class Ec2Instances:
    """Implements the port Instances. Needs the permission ec2:DescribeInstances."""

    def __init__(self, region: str, client: "EC2Client | None" = None) -> None:
        """``client`` None: one is made for the first question."""
        self._connected = Client("ec2", region, given=client)

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """The instances among these that EC2 knows, by id. Raises InstancesError.

        They are asked for by a filter: an id in the parameter InstanceIds that EC2 does not
        know would fail the whole request. Instances that EKS Auto Mode manages are listed, too,
        also in an account that hides them.
        """
        try:
            return {
                instance.instance_id: instance
                for values in batched(dict.fromkeys(instance_ids), VALUES_PER_FILTER, strict=False)
                for instance in self._read(values)
            }
        except (BotoCoreError, ClientError) as error:
            raise InstancesError(f"DescribeInstances failed: {error}") from error

    def _read(self, instance_ids: tuple[str, ...]) -> Iterator[Instance]:
        ec2: EC2Client = self._connected()
        pages = ec2.get_paginator("describe_instances").paginate(
            Filters=[{"Name": "instance-id", "Values": list(instance_ids)}],
            IncludeManagedResources=True,
            PaginationConfig={"PageSize": PAGE},
        )
        for page in pages:
            for reservation in page["Reservations"]:
                for found in reservation.get("Instances", []):
                    yield _instance(found)


def _instance(found: "InstanceTypeDef") -> Instance:
    tags = {tag["Key"]: tag.get("Value", "") for tag in found.get("Tags", [])}
    return Instance(
        instance_id=found["InstanceId"],
        state=found["State"]["Name"],
        private_dns_name=found.get("PrivateDnsName", ""),
        tags=tags,
        lifecycle=found.get("InstanceLifecycle", ""),
        reservation=found.get("CapacityReservationId", ""),
        operator=found.get("Operator", {}).get("Principal", ""),
    )
