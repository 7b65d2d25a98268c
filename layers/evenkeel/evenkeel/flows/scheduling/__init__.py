"""The scheduler's extender: answers from what watches have shown, and sends no request.

- ``fleet``: the nodes, and how full they are; ``population``: the pods, by workload and node;
- ``world``: both and the owners, as the watches show them;
- ``patience``: which pods the scheduler is kept waiting for;
- ``extender``: the two calls of the scheduler.
"""
