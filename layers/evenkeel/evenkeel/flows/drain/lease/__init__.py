"""The reconciler's Lease: who may write what rests on a count, and what is remembered.

- ``wire``: the Lease as it is read and written, and the API server's clock.
- ``hold``: one invocation takes it, renews it by a heartbeat, and gives it up.
- ``notes``: what it keeps for the next reconciler.
- ``sharing``: a storm that is too large for one reconciler, each of which holds a Lease.
- ``deployed``: commands learn from it whether functions are there to do the work.
"""
