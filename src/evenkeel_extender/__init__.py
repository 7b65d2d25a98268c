"""The scheduler's extender: answers from what watches have shown, and sends no request.

- ``calls``: the scheduler's two calls in JSON, whose shapes are in ``messages``;
- ``patience``: which pods the scheduler is kept waiting for;
- ``extender``: what either call is answered;
- ``decisions``: what a pod wishes, and how good a node is;
- ``store``: what the watches have shown, with the nodes in ``node_scores`` and the pods of each
  workload in ``pod_counts``; ``watching``: what fills it.
"""
