"""How each pod of a doomed node goes: which way, by when, and in which order.

| module | what |
|---|---|
| ``owner`` | who owns a pod, and what its owners say about it |
| ``namespace_objects`` | the budgets, services, claims and groups that bear on a pod |
| ``route`` | which way a pod goes, and why |
| ``returning`` | pods that come back to the node that they are taken from |
| ``gangs`` | pods that go together, or not at all |
| ``deadlines`` | by when a pod has to go |
| ``nodes`` | what is known of the nodes that pods are on |
| ``movers`` | pods that have to leave their nodes, and by when |
| ``count`` | how many pods a workload has, is to have, and can spare, in numbers |
| ``census`` | all that is known of one workload's pods |
| ``plan`` | what becomes of all pods of a workload, as the deciders say |
| ``pod_plan`` | what a decider says of one pod |
| ``stay`` | pods that stay |
| ``settling`` | how long a replacement has to have been Ready before its pod goes |
| ``make_first`` | released pods, and those that wait for a release |
| ``eviction_asked`` | released pods whose eviction somebody else asked for |
| ``turns`` | of pods that go one after the other: how many may be missing, and who goes next |
| ``quota_turns`` | pods that go one by one where a quota refuses a second one |
| ``at_once`` | pods that go at once |
| ``break_first`` | pods that take turns, and go before their replacements run |
| ``seats`` | room for the next pods of those that go before others run |
| ``last_moment`` | pods whose nodes die: when they are evicted by force |
| ``verdicts`` | what can become of a pod, in words and writes |
| ``pace`` | which pods are released next, of all workloads |
| ``agenda`` | when forced evictions begin, of all workloads |
| ``budgets`` | disruption budgets and bounds, as Kubernetes computes them |
| ``refusal`` | what follows when a budget refuses an eviction |
| ``writes`` | the requests that move pods |
"""
