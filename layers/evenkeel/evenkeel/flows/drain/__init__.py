"""The drain: takes every doomed node and every released pod, whoever left them.

From the top:

- ``invocation`` looks at the Lease and whether there is work, takes the Lease, reads, works, ends:
  ``outcome`` says how. ``leadership`` holds the Lease and the wake-up by a heartbeat.
- ``loop`` is one turn after the other: sync, plan what is new, dispatch, take what arrives.

The rooms:

- ``cache``: what is known. ``view`` holds nodes, controllers and surroundings as last seen, and
  ``pods`` the pods; ``streams`` how old a watch is. An eviction counts from when it is sent.
- ``sync``: what fills the cache. ``reading`` at the beginning, ``following`` from ``watches``;
  ``owners`` reads new nodes and what pods hang on, ``unwatched`` the pods that no watch selects.
- ``workload``: from what is known of one workload to the ``plan`` for its pods.
- ``dispatch``: from the ``plans`` of all workloads to requests. ``forcing`` is the agenda of pods
  that have to go, ``releasing`` says whose turn it is to be released, ``approving`` what is known
  well enough to be taken away (``checking`` reads it where watches are too old), ``sending`` puts
  all that in its order, and ``writing`` sends it and takes the replies.

Beside them:

- ``nodes`` decides what becomes of the doomed nodes themselves, ``cloud`` what is asked of EC2 and
  of other nodes, and kept from one invocation to the next.
- ``progress`` measures how fast replacements are made, how long answers take, how long planning.
- ``recording`` hands decisions to the recorder, each once.
"""
