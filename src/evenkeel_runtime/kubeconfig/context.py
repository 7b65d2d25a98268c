"""What a kubeconfig's context says, before anything is asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """What a context says of its cluster: the API server's URL, and what the entry is called.

    ``source`` is where that is from, for a message. ``namespace`` is the one that is meant where
    none is named.
    """

    server: str
    entry: str
    source: str = "the current context"
    namespace: str = "default"

    @property
    def cluster_name(self) -> str:
        """The cluster's own name, of which AWS's and eksctl's entries are made; else the entry's.

        ``arn:aws:eks:<region>:<account>:cluster/<name>`` and ``<name>.<region>.eksctl.io``.
        """
        if self.entry.startswith("arn:") and ":cluster/" in self.entry:
            return self.entry.rpartition("/")[2]
        if self.entry.endswith(".eksctl.io"):
            return self.entry.partition(".")[0]
        return self.entry
