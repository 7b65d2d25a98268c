"""The counts that are decided by: how many pods a workload has, is to have, and can spare."""

import msgspec


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of one workload at one time, as numbers.

    - ``spec_replicas``: so many its controller asks for; as many as were there where it does not
      say.
    - ``replicas_to_keep``: the same, but 0 of a ReplicaSet that is gone or going.
    - ``available``: so many are available, owned and released ones.
    - ``excess``: so many owned ones the controller has too many, and takes away. Any of them. It
      prefers those that are not Ready, but it chooses long before it deletes where its client is
      slow: one that it chose may be available by now.
    - ``missing``: so many replicas are not available now, or will not be for the excess.
    - ``promised``: so many its releases have to keep available, or had to: the most of all.
    - ``next_promise``: so many a release has to keep available, were it made now: the pods that are
      available, owned and released, and those that are about to be, or what is promised if that is
      more; never more than the replicas to keep.
    - ``wanted``: so many have to be available from now on: while pods are released, the lower of
      the replicas to keep and what was promised.
    - ``spare_in_rollout``: so many released pods its Deployment can spare in a rollout, below zero
      where pods are missing; None if no rollout goes on.
    - ``surplus``: so many released pods can go without the workload falling below what is wanted,
      nor, in a rollout, below what the Deployment keeps available; below zero where so many are
      missing for that.

    Worked through for a Deployment of 3 of which one pod is released. Its replacement is made,
    starts, and is available; then somebody scales the Deployment to 2:

    |                  | none is released | one is | replacement starts | is available | scaled |
    |------------------|------------------|--------|--------------------|--------------|--------|
    | spec_replicas    | 3                | 3      | 3                  | 3            | 2      |
    | replicas_to_keep | 3                | 3      | 3                  | 3            | 2      |
    | available        | 3                | 3      | 3                  | 4            | 4      |
    | excess           | 0                | 0      | 0                  | 0            | 1      |
    | missing          | 0                | 0      | 0                  | 0            | 0      |
    | promised         | 0                | 3      | 3                  | 3            | 3      |
    | next_promise     | 3                | 3      | 3                  | 3            | 2      |
    | wanted           | 3                | 3      | 3                  | 3            | 2      |
    | surplus          | 0                | 0      | 0                  | 1            | 1      |
    """

    spec_replicas: int
    replicas_to_keep: int
    available: int
    excess: int
    missing: int
    promised: int
    next_promise: int
    wanted: int
    spare_in_rollout: int | None
    surplus: int
