"""Events as Lambda hands them to the functions."""

import json
from typing import Any

from evenkeel.adapters.clock import SystemClock
from tests.kit.reviews import OWNER, TOKEN


def record(body: object) -> dict[str, Any]:
    return {
        "messageId": "m1",
        "receiptHandle": "handle",
        "body": json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183"},
        "eventSource": "aws:sqs",
    }


def warning(instance_id: str) -> dict[str, Any]:
    """An interruption warning, given now."""
    now = SystemClock().now()
    return {
        "id": "e1",
        "source": "aws.ec2",
        "detail-type": "EC2 Spot Instance Interruption Warning",
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "detail": {"instance-id": instance_id, "instance-action": "terminate"},
    }


def review() -> dict[str, Any]:
    body = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "r1",
            "operation": "CREATE",
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "shop",
            "object": {
                "metadata": {"generateName": "web-1-", "ownerReferences": [OWNER]},
                "spec": {"containers": []},
            },
        },
    }
    return {
        "version": "2.0",
        "rawPath": f"/v1/{TOKEN}",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST", "path": f"/v1/{TOKEN}"}},
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }
