"""What the tests of the stack's parts share: its parameters, and rights that go together."""

import base64

from tests.kit.certificates import Authority

CLUSTER = {
    "ClusterName": "prod",
    "ClusterEndpoint": "https://example.eks.amazonaws.com",
    "ClusterCertificateAuthority": base64.b64encode(Authority().certificate.encode()).decode(),
}


POLLING = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
"""What Lambda does with a function's role to feed it from a queue."""


LOGGING = {"logs:CreateLogStream", "logs:PutLogEvents"}


OF_LAMBDA = POLLING | LOGGING
"""What Lambda does with a function's role."""


NETWORK = {
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
}
