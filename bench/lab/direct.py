"""The API server by plain requests, for those beside Evenkeel that are to owe nothing to it."""

from pathlib import Path

import urllib3
import yaml


def connect(kubeconfig: Path, connections: int) -> tuple[str, urllib3.PoolManager]:
    """The API server's URL in a kubeconfig of the bench, and so many connections to it."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    pool = urllib3.PoolManager(
        maxsize=connections,
        ca_certs=cluster["certificate-authority"],
        cert_file=user["client-certificate"],
        key_file=user["client-key"],
    )
    return cluster["server"], pool
