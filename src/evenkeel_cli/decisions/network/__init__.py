"""Who reaches whom: functions the API server and AWS, and the API server the webhook on Lambda.

`control_plane` is what EKS tells of the cluster's network, `functions` what the stack's parameters
do, and `vpc` what EC2 does. `reaching` decides about the functions, `egress` about the API server.
"""
