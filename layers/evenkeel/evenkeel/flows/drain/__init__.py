"""The drain: takes up every doomed node and every released pod in the cluster.

From the top:

- ``invocation`` looks at the Lease and whether there is work, takes the Lease, reads, works, ends.
  ``wake_up`` hides the message meanwhile.
- ``loop`` is one turn after the other: take what arrives, decide what has changed, send; at last an
  outcome. ``queue`` has the workloads that wait to be planned for. ``assembly`` makes the parts
  of an invocation, and observes instead.

The rooms:

- ``lease``: who may write what rests on a count (``hold``), how the Lease is read and written
  (``wire``), what it remembers (``notes``), and how a large storm is shared (``sharing``).
- ``cache``: the objects as last seen. ``pods``, ``owners``, ``nodes`` and ``surroundings`` keep
  them by kind, ``groups`` which pods are in one group; ``streams`` how old a watch is, and
  ``facts`` how old what is read because no watch shows it. ``view`` is told of all, and adds the
  workloads to the queue that depend on a change. An eviction counts from when it is sent.
- ``sync``: what fills the cache. ``watches`` do; ``reader`` reads at the
  beginning, and then the facts that plans lack, or that are too old; ``listings`` lists a workload
  of which pods may go. ``questions`` are asked beside the loop.
- ``workload``: ``planning`` makes the plan for the pods of one workload from its objects; ``needs``
  says which facts that takes, and how old they may be. ``gangs`` says which pods go with others.
- ``dispatch``: from the ``plans`` of all workloads to requests. ``forced_evictions`` is their
  agenda, ``releasing`` picks the pods whose turn it is to be released, at the pace at which
  replacements are made. ``sending`` puts all these writes in order, and looks which evictions rest
  on what is known as of a moment ago; ``writing`` sends them and takes the replies; ``backoff``
  says when a write that was refused may be tried again. ``reports`` records what is news in the
  plans.

Beside them:

- ``nodes`` decides what becomes of the doomed nodes themselves. ``memory`` outlives invocations: it
  asks about EC2's instances and about other nodes, and has the answers. ``room_search`` looks for
  nodes with room for pods that a hint would move.
- ``hooks`` tells Auto Scaling groups to wait for their nodes, or to go on.
- ``recording`` hands decisions to the recorder, each once.
"""
