"""Answers evictions that are asked for by EvictionRequests (lifecycle.k8s.io, KEP-4563).

The eviction gate's second door: what decides is the gate (``evenkeel.flows.gate``), and the answer
is written into the status of an Eviction, not sent to the one who evicts.

- ``eviction``: an Eviction as the API server has it;
- ``report``: what has to be done about one, and what its status is told;
- ``responder``: one Eviction, from the gate's verdict to its status;
- ``responding``: all of them, each when it is due;
- ``naming``: which new pods name Evenkeel as a responder.
"""
