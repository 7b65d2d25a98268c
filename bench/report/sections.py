"""The sections of docs/measurements.md: one for each bench whose results are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent
from typing import Final


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the paragraph before the table, and what stands after it, as Markdown."""

    title: str
    what: str
    after: str = ""

    def around(self, table: str) -> str:
        """All of it with the table."""
        parts = (f"## {self.title}\n", self.what, table, self.after)
        return "\n".join(filter(None, parts))


SECTIONS: Final[Mapping[str, Section]] = {
    "storm": Section(
        "The storm",
        """\
100 of 100 spot nodes are interrupted at once, with 3,000 pods: 50 Deployments of 59 replicas and 50
of one. There are a real API server, controller manager, scheduler and etcd. kwok plays the
kubelets, 64 at a time (2 to 3 s to start a pod, 30 s of grace), and moto plays SQS and EC2.
`evenkeel poll` runs the Lambda handlers on one CPU's quota. An observer with watches of its own
counts. `make bench` runs all scenarios.
""",
        """\
- *Fill* is how long the same cluster takes to make the 3,000 pods Ready from nothing.
- *Too late* is a pod that was evicted or deleted less than 30 s, its grace period, before its
  node's end. It went before that end, with less time than it asked for.
- *Overlap* is how long old pods ran beside their replacements: in each workload, from when the k-th
  replacement was Ready until the k-th old pod was evicted or deleted.
- *Requests* are Evenkeel's own requests to the API server. *GETs* are without those for the pause.
- A bare deletion cordons the nodes and deletes their pods as fast as the API server takes it.
  `kubectl drain` runs for all nodes at the same time.
- In **D** the controller manager has its default of 20 requests a second, which is slower than the
  notice. Pods that cannot be replaced in time go at their last moment, evenly over the workloads
  ([decision 12](decisions/0012-the-last-round-is-even.md)).
""",
    ),
    "faults": Section(
        "Faults",
        """\
`make bench-faults` is the storm with doubled and foreign messages, with killed processes, and with
an API server that is away for 30 s or refuses a fifth of all requests.
""",
    ),
    "evenness": Section(
        "How evenly a storm hits where not all can be replaced",
        """\
`make bench-evenness` is storm D on simulated time. The controller manager is slower than the
notice, and the API server takes a bounded number of Evenkeel's requests. Every run gives the same
figures, so a change of turns or of last moments shows without a machine's noise. There are no CPUs
that could be full.
""",
        """\
[Decision 12](decisions/0012-the-last-round-is-even.md) says why no more is reached, and what was
tried.
""",
    ),
    "simulating": Section(
        "What simulated storms take",
        """\
`make bench-simulate` lets storms of one pool each come over a made-up cluster, as `evenkeel
simulate` does.
""",
    ),
    "floors": Section(
        "Floors without room for a replacement",
        """\
`make bench-floors` is a storm of Deployments with `evenkeel.dev/on-demand: 20%` and StatefulSets,
on a cluster whose on-demand nodes the floors fill. All spot nodes are noticed at once and go after
120 s, and no node comes.
""",
        """\
No pod above its floor can be replaced, so each stays until its last moment. The last moments are
spread over the time that the evictions take.
""",
    ),
    "placement": Section(
        "What the webhook adds",
        """\
`make bench-placement` makes pods of Deployments with a floor of 30 %, through a real API server
that asks `evenkeel serve` over TLS, and the same pods through an API server that asks no webhook.
""",
        """\
[Decision 6](decisions/0006-a-lease-per-place-of-a-floor.md) says why the 99th percentile is above
what was wanted, and what was tried.
""",
    ),
    "extender": Section(
        "What the extender takes",
        """\
`make bench-extender` asks the extender about the nodes of a large cluster, and lets a real
scheduler place many pods at once, with it and without.
""",
        """\
In a cluster of 5,000 nodes kube-scheduler asks about 500 of them (`percentageOfNodesToScore` is 10
% there, unless it is set).
""",
    ),
    "gate": Section(
        "How long evictions take with the gate",
        """\
`make bench-gate` evicts at a rate through a real API server that asks the [eviction gate](gate.md)
about each. An eviction that is put off is sent again when its time has come.
""",
        """\
The 99th percentile is above what was wanted, and what the slow ones wait for was not measured. An
eviction that is decided about has its pod read, then its workload, then the pods that count, and a
release is one write more. One that is known to wait for room in the window has nothing of it read.
""",
    ),
    "restoring": Section(
        "Restore",
        """\
`make bench-restore` runs all pods of the storm on on-demand nodes. The 50 Deployments of 59 have a
floor of a fifth, and the 50 of one have none. Then it adds spot nodes and invokes the restore
function again and again, each time when the moves of the run before have ended. With one move at a
time per workload and 50 in a run it takes 48 runs at least.
""",
    ),
    "plan": Section(
        "Restore's plan for a large cluster",
        """\
`make bench-plan` lets restore plan for a generated cluster, and for a tenth of it.
""",
    ),
    "snapshot": Section(
        "A snapshot of a large cluster",
        """\
`make bench-snapshot` writes a snapshot of 150,000 pods into a temporary directory, and lets
`evenkeel status` read it.
""",
    ),
    "growth": Section(
        "How a storm's time grows",
        """\
`make bench-growth` shows whether the time grows with the pods that are moved, and not with the
cluster around them.
""",
    ),
    "functions": Section(
        "How the CPU time inside the functions grows",
        """\
`make bench-growth ONLY=simulated` counts the CPU time inside Evenkeel's functions, in storms on
simulated time.
""",
    ),
    "fed": Section(
        "How the time of cache, plans and agenda grows",
        """\
`make bench-growth ONLY=fed` feeds cache, plans and agenda directly, without requests and watches,
in sizes for which this machine has no room for a cluster.
""",
    ),
    "pairs": Section(
        "Two commits in the same storm",
        """\
`make bench-pairs BASE=<commit>` runs storm A with the worker of this tree and with that of another
commit in turn, each in a new cluster with the fleet and the observer of this tree. The machine's
speed changes, so figures of different sittings are not compared. `SCENARIO=D PAIRS=3 BARE=1` runs
another storm, three times, with a bare deletion of the same pods beside each. If a cluster of a
pair takes over 45 s to fill, the pair is given up and repeated, twice at most.
""",
    ),
}
"""By the name of their results, in the order of the page."""

UNMEASURED: Final = Section(
    "Benches without kept results",
    "These benches measure more, and no results of them are kept:\n",
)


def sections(tables: Mapping[str, str]) -> str:
    """Markdown: a section for each of these tables, and a list of the benches that have none."""
    measured = [each.around(tables[name]) for name, each in SECTIONS.items() if name in tables]
    items = [_item(each) for name, each in SECTIONS.items() if name not in tables]
    return "\n".join([*measured, *([UNMEASURED.around("".join(items))] if items else [])])


def _item(section: Section) -> str:
    return "- " + indent(section.what, "  ").lstrip()
