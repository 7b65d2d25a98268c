"""What EC2 says of instances."""

from typing import Any

UNKNOWN = "i-0123456789abcdef0"


def test_a_running_instance_is_described(ec2: Any) -> None:
    instance_id = ec2.launch(**{"kubernetes.io/cluster/prod": "owned", "Name": "n1"})

    described = ec2.instances.describe([instance_id])

    assert set(described) == {instance_id}
    instance = described[instance_id]
    assert instance.instance_id == instance_id
    assert instance.state == "running"
    assert instance.private_dns_name.startswith("ip-")
    assert instance.tags == {"kubernetes.io/cluster/prod": "owned", "Name": "n1"}
    assert instance.belongs_to("prod")


def test_an_instance_without_tags_is_described(ec2: Any) -> None:
    instance_id = ec2.launch()
    instance = ec2.instances.describe([instance_id])[instance_id]
    assert instance.tags == {}
    assert not instance.belongs_to_any


def test_a_spot_instance_is_told_from_one_on_demand(ec2: Any) -> None:
    spot, on_demand, ended = ec2.launch(spot=True), ec2.launch(), ec2.launch(spot=True)
    ec2.terminate(ended)
    described = ec2.instances.describe([spot, on_demand, ended])
    assert [described[each].lifecycle for each in (spot, on_demand, ended)] == ["spot", "", "spot"]
    assert [described[each].is_spot for each in (spot, on_demand, ended)] == [True, False, True]


def test_an_unknown_id_is_absent_and_fails_nothing(ec2: Any) -> None:
    known = ec2.launch()
    assert set(ec2.instances.describe([UNKNOWN, known])) == {known}
    assert ec2.instances.describe([UNKNOWN]) == {}


def test_only_what_was_asked_for_is_answered(ec2: Any) -> None:
    first, _second, third = (ec2.launch() for _ in range(3))
    assert set(ec2.instances.describe([first, third])) == {first, third}


def test_an_id_that_is_asked_for_twice_is_answered_once(ec2: Any) -> None:
    instance_id = ec2.launch()
    assert set(ec2.instances.describe([instance_id, instance_id])) == {instance_id}


def test_nothing_is_answered_to_no_question(ec2: Any) -> None:
    ec2.launch()
    assert ec2.instances.describe([]) == {}


def test_more_ids_than_one_filter_takes_are_all_answered(ec2: Any) -> None:
    known = {ec2.launch() for _ in range(3)}
    strangers = [f"i-{number:017x}" for number in range(10_000, 10_400)]
    first, *others = known
    assert set(ec2.instances.describe([first, *strangers, *others])) == known


def test_a_stopped_or_terminated_instance_is_still_described(ec2: Any) -> None:
    stopped, terminated = ec2.launch(), ec2.launch()
    ec2.stop(stopped)
    ec2.terminate(terminated)
    described = ec2.instances.describe([stopped, terminated])
    assert described[stopped].state == "stopped"
    assert described[terminated].state == "terminated"
