"""The reconciler: takes every doomed node and every released pod, whoever left them.

One invocation, from the top:

- ``flow`` looks whether there is work, gathers and ends: ``outcome`` says how. ``leadership`` takes
  the Lease and keeps it, and the wake-up, by a heartbeat.
- ``reconciler`` is its loop: plan what is new, send what may be sent, take what arrives.

What it knows:

- ``view`` holds nodes, controllers and surroundings as last seen, and ``pods`` the pods: which of
  them count, and for which controller.
- ``reading`` fills the view at the beginning, ``following`` keeps it up to date from watches;
  ``selections`` are what both ask for. ``new_nodes`` reads what is doomed meanwhile.
- ``streams`` say how old what the watches show is. Where that is too old, and where no watch shows
  all, ``checking`` reads a controller and its pods before anything is taken away from it.
  ``rereading`` reads now and then what no watch shows of workloads and their surroundings.
- ``knowledge`` is what outlives an invocation: EC2's word for instances, the count of spot nodes;
  it is asked for beside the loop, by ``questions``.

What it decides, by the rules of ``evenkeel.decisions``:

- ``planning`` makes the plan for one controller's pods, a ``workload_plan``; ``plans`` keeps those
  of all of them.
- ``margins`` counts how much earlier everybody has to go because others go too.
- ``approving`` says what may be taken away, ``releasing`` whose turn it is to be released.
- ``nodes`` decides what becomes of the doomed nodes themselves.
- ``progress`` measures how fast replacements are made, and how much time planning takes.

What it does:

- ``sending`` puts what may be written in its order.
- ``writing`` sends the writes of decisions, and draws the conclusions from their replies.
- ``telling`` hands decisions to the recorder, each once.
"""
