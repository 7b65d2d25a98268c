"""What plays EC2 and SQS in a storm."""

from bench.storm import aws


def test_its_instances_are_spot_instances() -> None:
    with aws.started() as stand_in:
        stand_in.launch(1)
        (reservation,) = stand_in.ec2.describe_instances()["Reservations"]
    assert [each["InstanceLifecycle"] for each in reservation["Instances"]] == ["spot"]
