"""``evenkeel serve`` that dies once it has released a pod, before it answers for it.

python -m tests.e2e.gate.dying_gate serve ...
"""

import os
import signal
from collections.abc import Sequence

import evenkeel_cli.commands.serve
from evenkeel.model.request import Patch, Request
from evenkeel.ports import Reply
from evenkeel_cli.main import main
from evenkeel_runtime.serve.sharing import SharingCluster


class DyingCluster(SharingCluster):
    """A SharingCluster in which no process outlives its first patch."""

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Pass requests on."""
        replies = super().perform(requests)
        if any(isinstance(reply.request, Patch) and reply.error is None for reply in replies):
            os.kill(os.getpid(), signal.SIGKILL)
        return replies


if __name__ == "__main__":
    setattr(evenkeel_cli.commands.serve, "SharingCluster", DyingCluster)  # noqa: B010 - it exports none
    main()
