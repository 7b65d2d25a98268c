"""What each function, as it is built and deployed, does in the API server and in AWS, and where.

The functions of a deployed stack run on an interpreter that has no package of its own
(``deployed/ministack.py``): what a path needs is in the layer, or its test fails.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Path:
    """Something that a ``function`` asks of the API server or of AWS, or tells them.

    ``test`` of ``deployed/test_<file>.py`` shows it. ``calls`` are what it rests on in AWS, and
    ``settings`` what it depends on: environment variables, without ``EVENKEEL_``.
    """

    function: str
    what: str
    file: str
    test: str
    calls: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


PATHS = (
    Path(
        "interruption",
        "a notice marks and cordons its node, and wakes the reconciler",
        "deployed",
        "test_an_event_on_the_bus_moves_the_pods_and_nothing_dips",
        calls=("ec2:DescribeInstances", "sqs:SendMessage"),
        settings=(
            *("AWS_REGION", "CLUSTER_CA", "CLUSTER_ENDPOINT", "CLUSTER_NAME", "MODE"),
            *("REPLAY_SOURCE", "WAKE_UP_QUEUE_URL"),
        ),
    ),
    Path(
        "interruption",
        "nodes are read for an instance without a node",
        "deployed",
        "test_an_instance_without_a_node_is_no_dead_letter",
        calls=("ec2:DescribeInstances",),
    ),
    Path(
        "interruption",
        "a notice that is not true of its instance is refused",
        "deployed",
        "test_an_on_demand_node_is_left_alone_when_a_notice_is_wrong_or_forged",
        calls=("ec2:DescribeInstances",),
        settings=("CAPACITY_LABELS",),
    ),
    Path(
        "interruption",
        "a message comes back until it is a dead letter",
        "deployed",
        "test_a_poison_message_becomes_a_dead_letter_and_the_rest_of_its_batch_is_done",
        calls=("sqs:ChangeMessageVisibility",),
        settings=("NOTICE_QUEUE_URL",),
    ),
    Path(
        "interruption",
        "a probe asks the API server",
        "access",
        "test_a_probe_gets_to_the_api_server_and_is_counted",
    ),
    Path(
        "interruption",
        "a lifecycle hook's times are read",
        "ends",
        "test_a_group_waits_for_its_lifecycle_hook_until_the_pods_are_elsewhere",
        calls=("autoscaling:DescribeLifecycleHooks",),
        settings=("LIFECYCLE_HOOK",),
    ),
    Path(
        "interruption",
        "a group is let go on whose instance is no node",
        "ends",
        "test_a_group_does_not_wait_for_an_instance_that_is_off_and_no_node",
        calls=("autoscaling:CompleteLifecycleAction", "ec2:DescribeInstances"),
        settings=("LIFECYCLE_HOOK",),
    ),
    Path(
        "handover",
        "a wake-up has pods released, replaced and evicted, under the Lease, by watches",
        "deployed",
        "test_an_event_on_the_bus_moves_the_pods_and_nothing_dips",
        calls=("sqs:ChangeMessageVisibility",),
        settings=(
            *("AWS_LAMBDA_LOG_STREAM_NAME", "WINDOW"),
            *("EVICTIONS_PER_SECOND", "SEATS", "REBALANCE_SHARE"),
        ),
    ),
    Path(
        "handover",
        "a wake-up stays while the API server refuses the role",
        "access",
        "test_a_wake_up_without_access_stays_until_there_is_some",
        calls=("sqs:ChangeMessageVisibility",),
    ),
    Path(
        "handover",
        "the schedule's call says what mends a refusal",
        "access",
        "test_a_call_of_the_schedule_without_access_is_an_error_that_says_what_mends_it",
    ),
    Path(
        "handover",
        "the schedule's call sends a wake-up for what it leaves",
        "ends",
        "test_the_schedule_sends_a_wake_up_where_none_is_on_its_way",
        calls=("sqs:SendMessage",),
        settings=("WAKE_UP_QUEUE_URL",),
    ),
    Path(
        "handover",
        "a termination is kept waiting for its hook, and let go on",
        "ends",
        "test_a_group_waits_for_its_lifecycle_hook_until_the_pods_are_elsewhere",
        calls=(
            "autoscaling:CompleteLifecycleAction",
            "autoscaling:RecordLifecycleActionHeartbeat",
        ),
        settings=("LIFECYCLE_HOOK",),
    ),
    Path(
        "handover",
        "two events tell of an interruption",
        "notifications",
        "test_an_event_is_on_the_bus_when_an_interruption_begins_and_one_when_it_is_over",
        calls=("events:PutEvents",),
        settings=("NOTIFY",),
    ),
    Path(
        "handover",
        "a node whose instance is off is tainted as out of service",
        "ends",
        "test_the_volumes_of_an_instance_that_is_off_are_freed",
        calls=("ec2:DescribeInstances",),
        settings=("OUT_OF_SERVICE",),
    ),
    Path(
        "handover",
        "the mark of an instance that still runs is lifted",
        "ends",
        "test_the_mark_of_an_instance_that_lives_on_is_lifted",
        calls=("ec2:DescribeInstances",),
    ),
    Path(
        "restore",
        "a move is begun, and the reconciler woken",
        "floors",
        "test_restore_begins_a_move_and_handover_finishes_it",
        calls=("sqs:SendMessage",),
        settings=(*("DEFAULT_FLOORS", "NAMESPACES", "RESTORE_MOVES", "WAKE_UP_QUEUE_URL"),),
    ),
    Path(
        "restore",
        "a template is written",
        "floors",
        "test_restore_writes_a_template_that_places_its_pods",
    ),
    Path(
        "placement",
        "pods are placed, and places of floors claimed",
        "floors",
        "test_pods_land_on_their_floor_through_the_http_api",
        settings=("CAPACITY_LABELS", "DEFAULT_FLOORS", "NAMESPACES"),
    ),
    Path(
        "placement",
        "the token is read, and read again when it is rotated",
        "floors",
        "test_the_secret_s_token_counts_and_the_one_before_until_the_next_rotation",
        calls=("secretsmanager:GetSecretValue",),
        settings=("WEBHOOK_SECRET",),
    ),
    Path(
        "placement",
        "a token of the stack's parameter lets reviews in",
        "two_stacks",
        "test_after_each_step_of_its_removal_no_pod_waits_for_a_webhook_that_is_gone",
        settings=("WEBHOOK_TOKEN",),
    ),
    Path(
        "placement",
        "an eviction is refused, its pod released, and the eviction passes",
        "gate",
        "test_an_eviction_waits_for_its_replacement_through_the_http_api",
        settings=("GATE", "GATE_PATIENCE_SECONDS", "WINDOW"),
    ),
)
